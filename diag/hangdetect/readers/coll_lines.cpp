#include "diag/hangdetect/readers/coll_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/pytorch_types.h"
#include "diag/hangdetect/readers/dump_keys.h"
#include "diag/hangdetect/readers/op_name.h"
#include "diag/job/world_size.h"

namespace ringside::hang {
namespace {

/// Returns the element type in the recorder's spelling, so that calls of dumps and of lines compare as equal.
/// type  ncclDataType_t, whose values are those of DataType
std::string type_name(int type) {
  const bool is_known = type >= 0 && type < static_cast<int>(kPyTorchTypes.size());
  return is_known ? std::string(pytorch_name(static_cast<DataType>(type)))
                  : fmt::format("type {}", type);
}

std::uint64_t hash_of(const logs::CollCall& line) {
  std::uint64_t hash = mix(hash_text(line.function), line.count);
  hash = mix(hash, static_cast<std::uint64_t>(line.datatype));
  hash = mix(hash, static_cast<std::uint64_t>(line.op));
  return mix(hash, static_cast<std::uint64_t>(line.root));
}

Signature make_signature(const logs::CollCall& line, Op op) {
  Signature made;
  made.op = op;
  made.name = line.function;
  made.backend = "nccl";
  made.inputs = fmt::format("[[{}]]", line.count);
  made.outputs = made.inputs;
  made.types = type_name(line.datatype);
  made.input_count = line.count;
  made.output_count = line.count;
  if (has_root(op)) made.root = line.root;
  if (op == Op::Send) made.target = line.root;
  if (op == Op::Recv) made.source = line.root;
  return made;
}

}  // namespace

void CollLines::take_comm(const logs::CommEvent& comm, const logs::Speaker& speaker) {
  if (comm.rank < 0) return;
  const bool has_ended = comm.event == logs::CommEventType::DestroyStart ||
                         comm.event == logs::CommEventType::DestroyComplete;
  comms_[{{speaker.host, speaker.pid}, comm.comm}] = {comm.rank, comm.nranks, comm.comm_id,
                                                      has_ended};
}

std::uint32_t CollLines::signature_of(const logs::CollCall& line, Op op) {
  return names_.add_signature(hash_of(line), [&] { return make_signature(line, op); });
}

void CollLines::take(const logs::Record& record, const logs::Speaker& speaker, int rank) {
  const auto& line = record.as<logs::CollCall>();
  Process& process = processes_[{speaker.host, speaker.pid}];
  process.device = record.device;
  process.nranks = line.nranks;
  if (rank >= 0) process.rank = rank;
  if (process.rank < 0) process.rank = line.global_rank;
  const Op op = op_of(line.function);
  const bool is_p2p = op == Op::Send || op == Op::Recv;
  const std::pair key{line.comm, is_p2p};
  if (process.sequences.size() >= kMostComms && process.sequences.count(key) == 0) return;
  const std::uint32_t sequence = ++process.sequences[key];
  process.lines.push_back({line.comm, signature_of(line, op), sequence, is_p2p, record.place});
  if (process.lines.size() > most_calls_) process.lines.pop_front();
  ++process.calls;
}

const CollLines::Comm* CollLines::find_comm(const ProcessId& process, std::uint64_t comm) const {
  const auto known = comms_.find({process, comm});
  return known == comms_.end() ? nullptr : &known->second;
}

/// Names each communicator by its id, which is the same in all its processes.
CollLines::GroupNames CollLines::name_communicators(int world, const LogGroups& groups) const {
  std::map<std::uint64_t, std::map<int, int>> members;  // id -> group rank -> global rank
  std::map<std::uint64_t, int> sizes;
  for (const auto& [key, comm] : comms_) {
    if (comm.id == 0) continue;
    sizes[comm.id] = comm.nranks;
    const auto process = processes_.find(key.first);
    if (process == processes_.end() || process->second.rank < 0) continue;
    members[comm.id][comm.rank] = process->second.rank;
  }
  const auto spanning = std::count_if(sizes.begin(), sizes.end(),
                                      [&](const auto& one) { return one.second == world; });
  GroupNames names;
  for (const auto& [id, size] : sizes) {
    if (const auto known = groups.find_members(size, members[id])) {
      names[id] = *known;
    } else if (!groups.has_any()) {
      const bool is_default = size == world && spanning == 1;
      names[id] = is_default ? GroupName{"0", "default_pg"}
                             : GroupName{fmt::format("{:x}", id), "communicator"};
    }
  }
  return names;
}

std::vector<int> CollLines::behind() const {
  std::set<std::uint64_t> ids;
  for (const auto& [key, comm] : comms_) ids.insert(comm.id);
  if (ids.size() != 1) return {};
  std::map<int, std::uint64_t> calls_of;
  for (const auto& [id, process] : processes_) {
    if (process.rank >= 0) calls_of[process.rank] = process.calls;
  }
  return fewest_calls(calls_of);
}

/// Gives the processes the numbers of their GPUs as ranks, if no line names a rank and one host has the whole
/// communicator with a process for each GPU from 0 on. Launchers number such processes so.
void CollLines::number_by_device() {
  std::map<int, Process*> by_device;
  for (auto& [id, process] : processes_) {
    const bool is_numbered = process.rank < 0 && process.device >= 0 &&
                             process.nranks == static_cast<int>(processes_.size()) &&
                             id.first == processes_.begin()->first.first;
    if (!is_numbered || !by_device.emplace(process.device, &process).second) return;
  }
  const int count = static_cast<int>(by_device.size());
  if (count == 0 || by_device.rbegin()->first >= count) return;
  for (const auto& [device, process] : by_device) process->rank = device;
}

bool CollLines::is_of_job(int rank, int stated) const {
  if (rank < 0 || rank >= job::kMostRanks) return false;
  if (stated == 0 || rank < stated) return true;
  return std::any_of(processes_.begin(), processes_.end(),
                     [&](const auto& one) { return rank < one.second.nranks; });
}

Call CollLines::call_of(const Line& line, const GroupName& group, std::int64_t line_number) {
  Call call;
  call.record = static_cast<std::uint64_t>(line_number);
  call.sequence = line.sequence;
  call.signature = line.signature;
  call.is_p2p = line.is_p2p;
  call.state = CallState::Completed;
  call.pg = 0;
  call.group = names_.add_group(mix(hash_text(group.name), hash_text(group.description)),
                                [&] { return group; });
  return call;
}

RankDump CollLines::dump_of(const ProcessId& id, const Process& process, int world,
                            const WhereFunction& where, const GroupNames& groups) {
  RankDump dump;
  dump.rank = process.rank;
  dump.version = "log";
  for (const Line& line : process.lines) {
    const Comm* comm = find_comm(id, line.comm);
    GroupName group{"0", "default_pg"};
    if (comm != nullptr && comm->id != 0) {
      const auto name = groups.find(comm->id);
      dump.is_newest_lost |= name == groups.end();
      group = name != groups.end() ? name->second : GroupName{fmt::format("{:x}", comm->id), ""};
    } else if (comm != nullptr && comm->nranks != world) {
      continue;  // splits and old versions log no id; only over the whole job it is the default group
    }
    const auto [file, number] = where(line.place);
    if (dump.path.empty()) dump.path = file;
    dump.calls.push_back(call_of(line, group, number));
  }
  const Comm* last = find_comm(id, process.lines.back().comm);
  const bool is_pending = last == nullptr || !last->has_ended;
  if (is_pending && !dump.calls.empty()) dump.calls.back().state = CallState::Scheduled;
  return dump;
}

std::vector<RankDump> CollLines::finish(int world, int stated, const WhereFunction& where,
                                        const LogGroups& groups) {
  number_by_device();
  const GroupNames names = name_communicators(world, groups);
  std::vector<RankDump> dumps;
  for (const auto& [id, process] : processes_) {
    if (!is_of_job(process.rank, stated)) continue;
    RankDump dump = dump_of(id, process, world, where, names);
    if (!dump.calls.empty()) dumps.push_back(std::move(dump));
  }
  if (dumps.size() < 2) dumps.clear();
  return dumps;
}

std::vector<int> fewest_calls(const std::map<int, std::uint64_t>& calls_of) {
  std::map<std::uint64_t, std::vector<int>> by_count;
  for (const auto& [rank, calls] : calls_of) by_count[calls].push_back(rank);
  return by_count.size() < 2 ? std::vector<int>{} : by_count.begin()->second;
}

}  // namespace ringside::hang
