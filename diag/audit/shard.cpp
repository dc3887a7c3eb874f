#include "diag/audit/shard.h"

#include <algorithm>
#include <cstring>

#include "base/fnv.h"
#include "diag/job/job_words.h"
#include "diag/logparse/init_records.h"
#include "diag/logparse/quick_text.h"
#include "diag/logparse/topo_records.h"

namespace ringside::audit {

using namespace logs;  // most names below are its record types

namespace {

constexpr std::uint64_t channel_bit(int channel) {
  return std::uint64_t{1} << std::clamp(channel, 0, 63);
}

/// The rank that prints an edge, and its peer.
struct Ends {
  std::int32_t rank, peer;
};
Ends ends_of(const ChannelEdge& edge) {
  return edge.direction == Direction::Receive ? Ends{edge.to, edge.from} : Ends{edge.from, edge.to};
}

std::int16_t short_device(const ChannelEdge& edge) {
  return static_cast<std::int16_t>(std::clamp(edge.net_device, -1, 0x7fff));
}

bool is_same(const Link& link, const ChannelEdge& edge, Ends ends, std::uint16_t net) {
  return link.peer == ends.peer && link.rank == ends.rank && link.via == edge.via &&
         link.direction == edge.direction && link.gdr == edge.gdr && link.net == net &&
         link.net_device == short_device(edge) && link.connection == edge.connection &&
         link.proxy == edge.proxy && link.copy_engine == edge.copy_engine;
}

/// Returns a hash of a call, to compare calls between ranks.
std::uint32_t signature_of(const CollCall& call) {
  std::uint64_t hash = fnv_with(fnv_of(call.function), call.count);
  hash = fnv_with(hash, static_cast<std::uint64_t>(call.datatype) + 1);
  hash = fnv_with(hash, static_cast<std::uint64_t>(call.op) + 1);
  hash = fnv_with(hash, static_cast<std::uint64_t>(call.root) + 1);
  return static_cast<std::uint32_t>(hash ^ (hash >> 32));
}

/// Returns whether ranks may differ in this call, because each chooses its own peers or sizes. Most lines are
/// AllReduce and AllGather, which are distinguished by their first letters.
bool differs_by_nature(std::string_view function) {
  constexpr std::size_t kShortest = 4;
  if (function.size() < kShortest) return false;
  switch (function[0]) {
    case 'S':
      return function == "Send" || function == "Signal";
    case 'R':
      return function == "Recv";
    case 'P':
      return function == "PutSignal";
    case 'W':
      return function == "WaitSignal";
    case 'A':
      return (function[3] == 'T' || function[3] == 't') && function.ends_with("oAllv");
    default:
      return false;
  }
}

void note_thread(SpeakerParts& speaker, std::int32_t tid) {
  if (tid == speaker.tids[0] || speaker.ntids == speaker.tids.size()) return;
  const auto end = speaker.tids.begin() + speaker.ntids;
  if (std::find(speaker.tids.begin(), end, tid) == end) speaker.tids[speaker.ntids++] = tid;
}

}  // namespace

std::uint16_t Names::number_of(std::string_view name) {
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (names_[i] == name) return static_cast<std::uint16_t>(i);
  }
  constexpr std::size_t kMost = 1'000;
  if (names_.size() < kMost) names_.emplace_back(name);
  return static_cast<std::uint16_t>(names_.size() - 1);
}

void CallSum::append(const CallSum& later) {
  std::uint64_t power = kFactor;
  for (std::uint64_t left = later.count; left != 0; left >>= 1, power *= power) {
    if ((left & 1) != 0) sum *= power;
  }
  sum += later.sum;
  count += later.count;
}

void SpeakerSet::add_to_few(std::uint32_t speaker) {
  constexpr std::size_t kFew = 1'024;  // a set of bits takes up to 32 KiB
  few_.push_back(speaker);
  if (few_.size() < kFew) return;
  bits_.resize(1);
  std::vector<std::uint32_t> few;
  few.swap(few_);
  for (const std::uint32_t one : few) {
    last_ = kNone;
    add(one);
  }
}

void Shard::take(std::span<const Record> records, const SpeakerTable& table) {
  table_ = &table;
  for (std::uint32_t i = static_cast<std::uint32_t>(speakers.size()); i < table.size(); ++i) {
    speakers.push_back(table[i]);
  }
  spoken.resize(speakers.size());
  // Lines of many ranks alternate, so the memory of later ones is prefetched while these are processed.
  constexpr std::size_t kFar = 8;
  constexpr std::size_t kNear = 4;
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (i + kFar < records.size()) __builtin_prefetch(&spoken[records[i + kFar].speaker]);
    if (i + kNear < records.size()) fetch(records[i + kNear]);
    if (records[i].line.size() >= longest) note_length(records[i]);
    take_one(records[i]);
  }
}

/// Counts characters, as terminals do: the blocks of a progress bar have three bytes each.
void Shard::note_length(const Record& record) {
  const std::uint64_t kind = std::uint64_t{1} << static_cast<unsigned>(record.kind);
  // A line has at most as many characters as bytes, so of equally long lines the first is enough.
  if (record.line.size() == longest && (longest_kinds & kind) != 0) return;
  const auto characters =
      static_cast<std::size_t>(std::count_if(record.line.begin(), record.line.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
      }));
  if (characters < longest) return;
  if (characters > longest) longest_kinds = 0;
  longest = characters;
  longest_kinds |= kind;
}

void Shard::fetch(const Record& record) const {
  const SpeakerParts& speaker = spoken[record.speaker];
  const std::uint32_t part =
      record.kind == RecordKind::CollCall ? speaker.last_called : speaker.current;
  if (part >= parts.size()) return;
  __builtin_prefetch(&parts[part]);
  if (record.kind != RecordKind::CollCall) __builtin_prefetch(&links[part]);
}

void Shard::take_one(const Record& record) {
  SpeakerParts& speaker = spoken[record.speaker];
  ++speaker.records;
  if (!is_of_job) is_of_job = job::is_of_job(record);
  note_thread(speaker, record.tid);
  reader_.take(record, (*table_)[record.speaker]);
  if (record.level == Level::None && json_.wants(record.text())) json_.take(record, tables, ras);
  switch (record.kind) {
    case RecordKind::ChannelEdge:
      return take_edge(record);
    case RecordKind::RingNeighbours: {
      const auto& ring = record.as<RingNeighbours>();
      const std::uint32_t part = ring.comm != 0 ? part_of(record, ring.comm) : setup_part(record);
      ring_hops.push_back({part, ring.channel, ring.rank, ring.next});
      return;
    }
    case RecordKind::Trees: {
      const auto& trees = record.as<Trees>();
      if (trees.is_chain || trees.is_nvls) return;
      TreeUps entry{.part = trees.comm != 0 ? part_of(record, trees.comm) : setup_part(record),
                    .rank = trees.rank,
                    .at = static_cast<std::uint32_t>(ups.size())};
      TreeLink link;
      for (TreeCursor cursor(trees); cursor.next(link);) ups.push_back(link.up);
      entry.count = static_cast<std::uint32_t>(ups.size()) - entry.at;
      tree_ups.push_back(entry);
      return;
    }
    case RecordKind::CommEvent:
      return take_comm_event(record);
    case RecordKind::CommNodes:
      return take_comm_nodes(record);
    case RecordKind::CollCall:
      return take_call(record);
    case RecordKind::TopoSystem:
    case RecordKind::TopoNode:
      return take_topology(record);
    case RecordKind::TopoPaths:
    case RecordKind::GraphChannel:
    case RecordKind::TreeNeighbours:
    case RecordKind::TuningChoice:
      return;
    case RecordKind::Unknown:
    case RecordKind::Continuation:
    case RecordKind::Fragment:
    case RecordKind::Text:
    case RecordKind::Traceback:
      return take_plain(record);
    default:
      return take_fact(record);
  }
}

std::uint32_t Shard::new_part(std::uint32_t speaker) {
  const auto index = static_cast<std::uint32_t>(parts.size());
  parts.emplace_back().speaker = speaker;
  links.emplace_back();
  parts.back().network = spoken[speaker].network;
  spoken[speaker].parts.push_back(index);
  spoken[speaker].pointers.push_back(0);
  return index;
}

/// Returns the last communicator of a process at this address; kNone: none.
std::uint32_t Shard::find_part(const SpeakerParts& speaker, std::uint64_t comm) {
  for (std::size_t i = speaker.pointers.size(); i-- > 0;) {
    if (speaker.pointers[i] == comm) return speaker.parts[i];
  }
  return kNone;
}

void Shard::name_part(std::uint32_t index, std::uint64_t comm) {
  parts[index].comm = comm;
  SpeakerParts& speaker = spoken[parts[index].speaker];
  std::size_t at = speaker.parts.size() - 1;  // most often the last
  while (speaker.parts[at] != index) --at;
  speaker.pointers[at] = comm;
}

std::uint32_t Shard::current_part(const Record& record) {
  SpeakerParts& speaker = spoken[record.speaker];
  if (speaker.current == kNone || speaker.is_closed) {
    speaker.current = new_part(record.speaker);
    parts[speaker.current].first = record.place;
    speaker.is_closed = false;
  }
  return speaker.current;
}

std::uint32_t Shard::setup_part(const Record& record) {
  SpeakerParts& speaker = spoken[record.speaker];
  const bool is_over = speaker.current != kNone && parts[speaker.current].is_started &&
                       parts[speaker.current].is_complete;
  if (is_over) {
    speaker.current = new_part(record.speaker);
    parts[speaker.current].first = record.place;
    parts[speaker.current].is_headless = true;
  }
  return current_part(record);
}

std::uint32_t Shard::part_of(const Record& record, std::uint64_t comm) {
  SpeakerParts& speaker = spoken[record.speaker];
  if (speaker.last_called != kNone && speaker.last_pointer == comm) return speaker.last_called;
  std::uint32_t found = find_part(speaker, comm);
  if (found == kNone) {
    found = new_part(record.speaker);
    name_part(found, comm);
    parts[found].first = record.place;
  }
  speaker.last_called = found;
  speaker.last_pointer = comm;
  return found;
}

void Shard::take_edge(const Record& record) {
  const auto& edge = record.as<ChannelEdge>();
  if (edge.from < 0) return;
  if (edge.via == Via::Unknown) return;
  const std::uint32_t part = edge.comm != 0 ? part_of(record, edge.comm) : current_part(record);
  if (last_net_ >= nets.size() || nets[last_net_] != edge.net) last_net_ = nets.number_of(edge.net);
  const auto net = static_cast<std::uint16_t>(last_net_);

  // A torn line has lost its end: whether it used GPUDirect is unknown.
  const bool is_doubtful = record.is_torn && edge.via == Via::Net && !edge.gdr;
  if (!is_doubtful) {
    const EdgeKind kind{edge.via, edge.direction, edge.gdr, net};
    if (last_edges_ == nullptr || last_kind_ != kind) {
      last_kind_ = kind;
      last_edges_ = &edges[kind];
    }
    last_edges_->add(record);
  }

  const Ends ends = ends_of(edge);
  std::vector<Link>& mine = links[part];
  const auto is_this = [&](const Link& link) { return is_same(link, edge, ends, net); };
  // Most lines are equal to the previous one except for the channel.
  const auto known = !mine.empty() && is_this(mine.back())
                         ? mine.end() - 1
                         : std::find_if(mine.begin(), mine.end(), is_this);
  if (known != mine.end()) {
    known->channels |= channel_bit(edge.channel);
    ++known->count;
    return;
  }
  if (is_doubtful) return;
  mine.push_back({.rank = ends.rank,
                  .peer = ends.peer,
                  .channels = channel_bit(edge.channel),
                  .proxy = edge.proxy,
                  .count = 1,
                  .net_device = short_device(edge),
                  .net = net,
                  .via = edge.via,
                  .direction = edge.direction,
                  .connection = static_cast<std::int8_t>(edge.connection),
                  .gdr = edge.gdr,
                  .copy_engine = edge.copy_engine});
}

/// Fills the fields of a part that the line states.
void Shard::fill_part(std::uint32_t index, const CommEvent& event) {
  name_part(index, event.comm);
  CommPart& part = parts[index];
  take_known(part.comm_id, event.comm_id, 0U);
  take_known(part.parent, event.parent, 0U);
  take_known(part.rank, event.rank, -1);
  take_known(part.nranks, event.nranks, -1);
  take_known(part.color, event.color, -1);
  take_known(part.child, event.child, -1);
  take_known(part.bus_id, event.bus_id, -1);
  take_known(part.cuda_device, event.cuda_device, -1);
  take_known(part.nvml_device, event.nvml_device, -1);
  part.is_rccl = part.is_rccl || event.is_rccl;
}

/// Opens the part of a communicator: the lines of its setup, which name no communicator, follow.
void Shard::begin_part(const Record& record, const CommEvent& event) {
  SpeakerParts& speaker = spoken[record.speaker];
  const std::uint32_t index = new_part(record.speaker);
  speaker.current = index;
  speaker.is_closed = false;
  parts[index].first = record.place;
  parts[index].is_started = true;
  fill_part(index, event);
}

/// Completes the part of a communicator. If its `Init START` is lost, the part is the open one without a communicator,
/// or a new one, and later lines of a setup are of another communicator.
void Shard::complete_part(const Record& record, const CommEvent& event) {
  SpeakerParts& speaker = spoken[record.speaker];
  std::uint32_t index = find_part(speaker, event.comm);
  if (index == kNone || parts[index].is_complete) {
    const bool is_open =
        speaker.current != kNone && !speaker.is_closed && parts[speaker.current].comm == 0;
    index = is_open ? speaker.current : new_part(record.speaker);
    if (!is_open) parts[index].first = record.place;
  }
  fill_part(index, event);
  parts[index].is_complete = true;
  if (!parts[index].is_started) {
    speaker.current = index;
    speaker.is_closed = true;
  }
}

/// Notes that a communicator is destroyed or aborted.
void Shard::end_part(const Record& record, const CommEvent& event) {
  std::uint32_t index = find_part(spoken[record.speaker], event.comm);
  if (index == kNone) {
    index = new_part(record.speaker);
    parts[index].first = record.place;
    fill_part(index, event);
  }
  const bool is_destroy =
      event.event == CommEventType::DestroyStart || event.event == CommEventType::DestroyComplete;
  (is_destroy ? parts[index].is_destroyed : parts[index].is_aborted) = true;
}

void Shard::take_comm_event(const Record& record) {
  const auto& event = record.as<CommEvent>();
  spoken[record.speaker].last_called = kNone;  // a later communicator may have the same pointer
  if (event.event == CommEventType::InitStart) return begin_part(record, event);
  if (event.event == CommEventType::InitComplete) return complete_part(record, event);
  end_part(record, event);
}

void Shard::take_comm_nodes(const Record& record) {
  const auto& nodes = record.as<CommNodes>();
  CommPart& part = parts[part_of(record, nodes.comm)];
  part.rank = nodes.rank;
  part.nranks = nodes.nranks;
  part.nnodes = nodes.nnodes;
  part.mnnvl = nodes.mnnvl;
}

void Shard::take_call(const Record& record) {
  const auto& call = record.as<CollCall>();
  const std::uint32_t index = part_of(record, call.comm);
  CommPart& part = parts[index];
  if (part.nranks < 0) part.nranks = call.nranks;
  ++part.ncalls;
  if (differs_by_nature(call.function) || calls.size() >= kMostCalls) return;
  const bool is_doubtful = record.is_torn || record.is_cut;
  const KnownCall& known = is_doubtful ? torn_call_ : note_call(record, call);
  calls.push_back({known.signature, index, static_cast<std::uint32_t>(call.op_count), record.place},
                  known.id, part.op_count);
  part.calls.add(known.signature);
}

/// Returns the entry of calls like this one, of which the first line is kept.
const KnownCall& Shard::note_call(const Record& record, const CollCall& call) {
  constexpr std::size_t kMostTexts = 20'000;
  const std::size_t size = call.function.size();
  // After a function's name more of the line follows; for the longest names the two words skip the middle.
  const std::uint64_t all = ~std::uint64_t{0};
  const std::uint64_t start = logs::word_at(call.function.data());
  const auto wide = [](std::int32_t number) {
    return std::uint64_t{static_cast<std::uint32_t>(number)};
  };
  const KnownCall::Key key = {
      size < 8 ? start & ~(all << 8 * size) : start,
      size > 8 ? logs::word_at(call.function.data() + size - 8) : 0, call.count,
      wide(call.op) << 32 | wide(call.root),
      std::uint64_t{static_cast<std::uint16_t>(call.datatype)} << 48 | size};
  const std::uint64_t hash = (key[0] ^ key[2] << 7 ^ key[4] ^ key[3] << 3) * 0x9E3779B97F4A7C15U;
  KnownCall& known = known_calls_[hash >> 58];
  const std::uint64_t different = (known.key[0] ^ key[0]) | (known.key[1] ^ key[1]) |
                                  (known.key[2] ^ key[2]) | (known.key[3] ^ key[3]) |
                                  (known.key[4] ^ key[4]);
  if (different == 0) return known;  // no function's name is empty, so none matches an unset entry
  known.key = size <= 16 ? key : KnownCall::Key{};
  known.signature = signature_of(call);
  known.id = calls.id_of(known.signature);
  if (call_texts.size() < kMostTexts && call_texts.find(known.signature) == call_texts.end()) {
    call_texts.emplace(known.signature, quotable(record.line));
  }
  return known;
}

void Shard::take_topology(const Record& record) {
  SpeakerParts& speaker = spoken[record.speaker];
  if (record.kind == RecordKind::TopoSystem && !record.as<TopoSystem>().is_end) {
    speaker.has_topology = true;
    // The processes of a host all see the same topology: one dump is enough.
    const std::string& host = speakers[record.speaker].host;
    if (!dumpers_.insert(host).second) return;
    const auto& system = record.as<TopoSystem>();
    speaker.dump = static_cast<std::uint32_t>(dumps.size());
    dumps.push_back({.host = host,
                     .speaker = record.speaker,
                     .max_bw = system.max_bw,
                     .total_bw = system.total_bw});
    dumps.back().evidence.add(record.place, record.speaker, record.line);
    return;
  }
  if (!speaker.has_topology) {
    // The cut between two shards may go through a dump: its end belongs to the dump of the earlier shard.
    speaker.has_topology = true;
    speaker.dump = static_cast<std::uint32_t>(dumps.size());
    dumps.push_back(
        {.host = speakers[record.speaker].host, .speaker = record.speaker, .goes_on = true});
  }
  if (speaker.dump == kNone) return;
  TopologyDump& dump = dumps[speaker.dump];
  if (dump.is_whole) return;
  if (record.kind == RecordKind::TopoSystem) {
    dump.is_whole = !dump.is_damaged;
    speaker.dump = kNone;
    return;
  }
  constexpr std::size_t kMostNodes = 4'000;
  const auto& node = record.as<TopoNode>();
  // A torn line may have lost the link that a rule needs: such a dump never counts as complete.
  if (dump.nodes.size() >= kMostNodes || record.is_torn || record.is_cut) {
    dump.is_damaged = true;
    return;
  }
  dump.nodes.push_back({node.indent, node.bw, std::string(node.link), std::string(node.type),
                        std::string(node.id), std::string(node.details)});
}

}  // namespace ringside::audit
