#include "engine/cuda/device/lay_out.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>

#include "base/assert.h"
#include "engine/collectives/flatten.h"
#include "engine/runtime/host/host_ports.h"

namespace ringside {
namespace {

/// The data that is copied to the device in one piece. Places are offsets until the device address is known.
class Image {
 public:
  template <typename T>
  std::size_t append(std::span<const T> entries) {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= kAlignment);
    const std::size_t at = room(entries.size_bytes());
    if (!entries.empty()) std::memcpy(bytes_.data() + at, entries.data(), entries.size_bytes());
    return at;
  }
  std::size_t room(std::size_t size) {
    const std::size_t at = (bytes_.size() + kAlignment - 1) / kAlignment * kAlignment;
    bytes_.resize(at + size);
    return at;
  }
  [[nodiscard]] std::vector<std::byte>& bytes() { return bytes_; }

 private:
  static constexpr std::size_t kAlignment = 16;
  std::vector<std::byte> bytes_;
};

/// One side of a block: its ends, and the range of them that belongs to each port.
struct SideAt {
  std::size_t ends = 0;
  std::size_t of_port = 0;
  int count = 0;
};

/// Gives the ends of a port to a switch the addresses of the group's slots: the head uses all copies, each other
/// member its own.
Status point_to_switch(std::span<DeviceEnd> ends, const SwitchGroup& group, bool receives,
                       const PortNames& names, DeviceLinks& links) {
  RINGSIDE_TRY(const SwitchSlots slots, links.slots_of(switch_name(group, names), names.me));
  const bool is_head = receives == (group.senders.size() > 1);
  for (DeviceEnd& end : ends) {
    end.slots = slots.own;
    if (is_head) end.multicast = slots.all;
    end.credit = nullptr;  // one store reaches all outputs: they have no common address
  }
  return {};
}

Result<SideAt> append_side(Image& image, const std::vector<Peer>& peers, bool receives,
                           const PortNames& names, const Choice& choice, DeviceLinks& links) {
  const NamedPorts side = name_device_ports(peers, receives, names, choice);
  std::vector<DeviceEnd> ends;
  for (std::size_t i = 0; i < side.ids.size(); ++i) {
    RINGSIDE_TRY(DeviceEnd end, links.end_of(side.ids[i], receives));
    end.peer = to_int(side.peers[i]);
    ends.push_back(end);
  }
  for (std::size_t port = 0; port < peers.size(); ++port) {
    const SwitchGroup* const group = switch_of(peers[port], choice);
    if (group == nullptr) continue;
    const std::span<DeviceEnd> own(ends.data() + side.first[port],
                                   ends.data() + side.first[port + 1]);
    RINGSIDE_TRY(point_to_switch(own, *group, receives, names, links));
  }
  if (ends.size() > static_cast<std::size_t>(kMostDeviceEnds)) {
    return Error{ErrorCode::Unsupported,
                 fmt::format("rank {} has {} connections on a channel; a block has {} at most",
                             to_int(names.me), ends.size(), kMostDeviceEnds),
                 "use the ring or the tree, or fewer ranks"};
  }
  std::vector<std::uint64_t> of_port(peers.size());
  for (std::size_t port = 0; port < peers.size(); ++port) {
    for (std::uint32_t end = side.first[port]; end < side.first[port + 1]; ++end) {
      of_port[port] |= std::uint64_t{1} << end;
    }
  }
  return SideAt{image.append<DeviceEnd>(ends), image.append<std::uint64_t>(of_port),
                static_cast<int>(ends.size())};
}

/// DeviceDirect with offsets in place of addresses.
struct DirectAt {
  bool is_there = false;
  DeviceDirect direct;
  std::size_t first = 0, steps = 0, shift = 0;
};

/// Notes the ends that the steps of each strand receive from and send to.
void note_ends(const ChannelTask& task, const DirectStores& stores, DeviceDirect& direct) {
  const std::vector<std::int32_t> first = first_ends(task.recv_peers, true);
  const Program program = record(task);
  for (int turn = 0; turn < program.turns; ++turn) {
    for (int strand = 0; strand < program.strands.count; ++strand) {
      int number = 0;
      for_each_step(program, turn, strand, [&](const Step& step) {
        const DirectStep& its = stores.at(turn * program.strands.count + strand, number++);
        direct.to_ends[strand] |= its.to;
        if (its.takes == 0) return;
        // A step that receives directly has exactly one receiving end.
        for_each_port(step.from, [&](int port) {
          direct.from_ends[strand] |= std::uint64_t{1} << first[static_cast<std::size_t>(port)];
        });
      });
    }
  }
}

DirectAt append_direct(Image& image, const ChannelTask& task, const DirectStores& stores,
                       std::int64_t element) {
  if (stores.is_empty()) return {};
  std::vector<std::int64_t> shift;
  for (const std::int64_t elements : stores.shift) shift.push_back(elements * element);
  DirectAt at{.is_there = true,
              .direct = {},
              .first = image.append<std::int32_t>(stores.first),
              .steps = image.append<DirectStep>(stores.steps),
              .shift = image.append<std::int64_t>(shift)};
  note_ends(task, stores, at.direct);
  return at;
}

/// A block and the tables that it refers to, as offsets.
struct BlockAt {
  DeviceBlock block;
  SideAt recv, send;
  DirectAt direct;
};

Result<BlockAt> append_block(Image& image, std::vector<std::byte>& tables, const DeviceRank& rank,
                             int channel, const DeviceCallShape& shape, DeviceLinks& links) {
  const ChannelTask& task = rank.tasks[static_cast<std::size_t>(channel)];
  const Choice& choice = shape.choice;
  const PortNames names{rank.rank, channel, choice.protocol, choice.slot};
  BlockAt at;
  RINGSIDE_TRY(at.recv, append_side(image, task.recv_peers, true, names, choice, links));
  RINGSIDE_TRY(at.send, append_side(image, task.send_peers, false, names, choice, links));
  at.block.ends_bytes = static_cast<std::int64_t>(image.room(0) - at.recv.ends);
  at.block.task = flatten(task, tables);
  at.block.recv_count = at.recv.count;
  at.block.send_count = at.send.count;
  at.block.rank = to_int(rank.rank);
  at.block.channel = channel;
  at.block.element = static_cast<std::int32_t>(size_of(shape.type).value);
  at.block.slots = links.slots();
  RINGSIDE_ASSERT(std::has_single_bit(static_cast<unsigned>(at.block.slots)), "{} slots",
                  at.block.slots);
  at.block.slot = static_cast<std::int64_t>(choice.slot.value);
  at.block.slot_memory = device_slot_memory(choice.protocol, at.block.slot);
  at.block.timeout_ns = shape.timeout.count();
  at.block.warps_per_strand = shape.warps_per_strand;
  at.block.protocol = choice.protocol;
  at.block.reduction = device_reduction(rank.reduce);
  if (!rank.direct.empty()) {
    at.direct = append_direct(image, task, rank.direct[static_cast<std::size_t>(channel)],
                              at.block.element);
  }
  return at;
}

}  // namespace

DeviceReduction device_reduction(const ReduceOp* op) {
  DeviceReduction reduction;
  if (op == nullptr) return reduction;
  reduction.reduces = true;
  reduction.type = op->type();
  const bool is_sum = op->op() == RedOp::Avg || op->op() == RedOp::PreMulSum;
  reduction.between = is_sum ? RedOp::Sum : op->op();
  reduction.is_scaled = op->has_pre_operation();
  const std::size_t bytes = size_of(op->type()).value;
  for (std::size_t at = 0; at < 8; at += bytes) {
    reduction.scalar |= op->scalar() << (at * 8);
  }
  reduction.divisor = op->divisor();
  return reduction;
}

Result<SwitchSlots> DeviceLinks::slots_of(const SwitchName& /*name*/, Rank /*member*/) {
  return Error{ErrorCode::Unsupported, "no switch joins the memory of these ranks' GPUs",
               "use an algorithm other than nvls and nvls_tree"};
}

Result<DeviceEnd> DeviceConnections::end_of(const ConnectionId& id, bool receives) {
  const auto known = fifos_.find(id);
  if (known != fifos_.end()) return DeviceFifo(known->second).end(receives);
  RINGSIDE_TRY(std::byte* const memory,
               memory_.take(DeviceFifo::memory_for(id.protocol, Bytes{id.slot_size}, slots_)));
  const std::lock_guard lock(mutex_);
  fifos_[id] = memory;
  return DeviceFifo(memory).end(receives);
}

std::vector<Connections::Progress> DeviceConnections::progress(Rank rank) const {
  const auto me = static_cast<std::uint32_t>(to_int(rank));
  std::vector<Connections::Progress> all;
  const std::lock_guard lock(mutex_);
  for (const auto& [id, fifo] : fifos_) {
    for (const bool receives : {false, true}) {
      if ((receives ? id.to : id.from) != me) continue;
      if (const auto one = look_at(memory_, nullptr, fifo, receives)) {
        all.push_back({id, receives, one->messages, 0, one->is_waiting != 0});
      }
    }
  }
  return all;
}

std::optional<DeviceProgress> look_at(DeviceMemory& memory, std::byte* cpu_fifo, std::byte* fifo,
                                      bool receives) {
  std::array<std::uint64_t, 2> words{};
  if (cpu_fifo == nullptr) {
    if (!memory.look(words, DeviceFifo(fifo).progress(receives))) return std::nullopt;
  } else {
    auto* const at = reinterpret_cast<std::uint64_t*>(DeviceFifo(cpu_fifo).progress(receives));
    for (std::size_t i = 0; i < words.size(); ++i) {
      words[i] = std::atomic_ref(at[i]).load(std::memory_order_relaxed);
    }
  }
  return DeviceProgress{words[0], words[1]};
}

Status DeviceConnections::start_over_at(std::uint64_t step) {
  for (const auto& [id, memory] : fifos_) {
    for (const std::size_t at : {DeviceFifo::kTailAt, DeviceFifo::kHeadAt, DeviceFifo::kSendStepAt,
                                 DeviceFifo::kRecvStepAt}) {
      RINGSIDE_TRY(memory_.write(memory + at, std::as_bytes(std::span(&step, 1))));
    }
  }
  return {};
}

Result<DeviceGrid> lay_out(std::span<const DeviceRank> ranks, const DeviceCallShape& shape,
                           DeviceControl* control, DeviceLinks& links, DeviceMemory& memory) {
  if (ranks.size() > static_cast<std::size_t>(kMostDeviceRanks)) {
    return Error{ErrorCode::Unsupported,
                 fmt::format("{} ranks on one GPU; {} at most", ranks.size(), kMostDeviceRanks),
                 "use fewer"};
  }
  Image image;
  std::vector<std::byte> tables;
  std::vector<BlockAt> blocks;
  DeviceGrid grid;
  for (const DeviceRank& rank : ranks) {
    const auto place = static_cast<std::int32_t>(&rank - ranks.data());
    for (int channel = 0; channel < shape.choice.nchannels; ++channel) {
      RINGSIDE_TRY(BlockAt at, append_block(image, tables, rank, channel, shape, links));
      at.block.place = place;
      grid.strands = std::max(grid.strands, at.block.task.role.strands.count);
      blocks.push_back(at);
    }
  }
  grid.count = static_cast<int>(blocks.size());
  grid.places = static_cast<int>(ranks.size());
  grid.warps_per_strand = shape.warps_per_strand;
  const auto count = blocks.size();
  const auto strands = static_cast<std::size_t>(grid.strands);
  const auto warps = static_cast<std::size_t>(grid.warps());
  const std::size_t tables_at = image.append<std::byte>(tables);
  const std::size_t reports_at = image.room(count * warps * sizeof(DeviceReport));
  const std::size_t lists_at = image.room(count * strands * sizeof(DeviceEventList));
  const std::size_t events_at = image.room(count * strands * shape.events * sizeof(DeviceEvent));
  const std::size_t blocks_at = image.room(count * sizeof(DeviceBlock));

  RINGSIDE_TRY(std::byte* const base, memory.take(Bytes{image.bytes().size()}));
  grid.reports = reinterpret_cast<DeviceReport*>(base + reports_at);
  if (shape.events != 0) {
    grid.event_lists = reinterpret_cast<DeviceEventList*>(base + lists_at);
    grid.events = reinterpret_cast<DeviceEvent*>(base + events_at);
  }
  grid.blocks = reinterpret_cast<const DeviceBlock*>(base + blocks_at);
  // Reports start with the default values of their members: no warp has given up, nothing is recorded.
  const std::vector<DeviceReport> reports(count * warps);
  std::memcpy(image.bytes().data() + reports_at, reports.data(),
              reports.size() * sizeof(DeviceReport));
  for (std::size_t i = 0; i < count; ++i) {
    DeviceBlock& block = blocks[i].block;
    block.tables = base + tables_at;
    block.recv_ends = reinterpret_cast<const DeviceEnd*>(base + blocks[i].recv.ends);
    block.send_ends = reinterpret_cast<const DeviceEnd*>(base + blocks[i].send.ends);
    block.recv_of_port = reinterpret_cast<const std::uint64_t*>(base + blocks[i].recv.of_port);
    block.send_of_port = reinterpret_cast<const std::uint64_t*>(base + blocks[i].send.of_port);
    block.ends = base + blocks[i].recv.ends;
    if (const DirectAt& at = blocks[i].direct; at.is_there) {
      block.direct = at.direct;
      block.direct.first = reinterpret_cast<const std::int32_t*>(base + at.first);
      block.direct.steps = reinterpret_cast<const DirectStep*>(base + at.steps);
      block.direct.shift = reinterpret_cast<const std::int64_t*>(base + at.shift);
      block.direct.windows = shape.windows;
    }
    block.control = control;
    block.reports = grid.reports + i * warps;
    if (shape.events != 0) {
      block.events = grid.event_lists + i * strands;
      for (std::size_t strand = 0; strand < strands; ++strand) {
        const DeviceEventList list{.events = grid.events + (i * strands + strand) * shape.events,
                                   .capacity = shape.events};
        std::memcpy(image.bytes().data() + lists_at + (i * strands + strand) * sizeof list, &list,
                    sizeof list);
      }
    }
    std::memcpy(image.bytes().data() + blocks_at + i * sizeof block, &block, sizeof block);
  }
  RINGSIDE_TRY(memory.write(base, image.bytes()));
  return grid;
}

Result<std::optional<Error>> outcome_of(const DeviceGrid& grid, std::span<const DeviceRank> ranks,
                                        DeviceMemory& memory) {
  const auto warps = static_cast<std::size_t>(grid.warps());
  std::vector<DeviceReport> reports(static_cast<std::size_t>(grid.count) * warps);
  RINGSIDE_TRY(memory.read(std::as_writable_bytes(std::span(reports)),
                           reinterpret_cast<const std::byte*>(grid.reports)));
  constexpr std::array waited_for{"a chunk of", "a free slot of", "the call of"};
  // A wait that timed out is a better explanation than one that was stopped.
  for (const DeviceOutcome looked_for : {DeviceOutcome::TimedOut, DeviceOutcome::Aborted}) {
    for (std::size_t i = 0; i < reports.size(); ++i) {
      const DeviceReport& report = reports[i];
      if (report.outcome != looked_for) continue;
      const std::size_t block = i / warps;
      const std::size_t channels = static_cast<std::size_t>(grid.count) / ranks.size();
      const bool is_late = looked_for == DeviceOutcome::TimedOut;
      return std::optional(
          Error{is_late ? ErrorCode::Timeout : ErrorCode::Aborted,
                fmt::format("rank {} {} {} rank {} on channel {}: message {}",
                            to_int(ranks[block / channels].rank),
                            is_late ? "waited in vain for" : "was stopped while it waited for",
                            waited_for[report.waits_for_room], report.peer, block % channels,
                            report.step)});
    }
  }
  return std::optional<Error>();
}

Result<std::vector<DeviceEvent>> take_events(const DeviceGrid& grid, int block, int strand,
                                             DeviceMemory& memory) {
  std::vector<DeviceEvent> events;
  if (grid.event_lists == nullptr) return events;
  DeviceEventList* const place = grid.event_lists + block * grid.strands + strand;
  DeviceEventList list;
  RINGSIDE_TRY(memory.read(std::as_writable_bytes(std::span(&list, 1)),
                           reinterpret_cast<const std::byte*>(place)));
  events.resize(std::min(list.count, list.capacity));
  RINGSIDE_TRY(memory.read(std::as_writable_bytes(std::span(events)),
                           reinterpret_cast<const std::byte*>(list.events)));
  list.count = 0;
  RINGSIDE_TRY(
      memory.write(reinterpret_cast<std::byte*>(place), std::as_bytes(std::span(&list, 1))));
  return events;
}

}  // namespace ringside
