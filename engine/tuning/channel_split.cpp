#include "engine/tuning/channel_split.h"

#include <algorithm>
#include <array>

#include "base/assert.h"

namespace ringside {
namespace {

std::uint64_t divided_up(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }
std::uint64_t rounded_up(std::uint64_t a, std::uint64_t to) { return divided_up(a, to) * to; }

/// NCCL schedules the kinds of tasks one after the other: plain, NVLS, CollNet, both.
std::size_t kind_of(const SplitTask& task, const SplitShape& shape) {
  const AlgorithmFacts& facts = facts_of(task.algorithm);
  const bool takes_nvls =
      facts.takes_nvswitch || (task.algorithm == Algorithm::Pat && shape.pat_takes_nvls_channels &&
                               shape.nranks > shape.nnodes);
  return (facts.uses_collnet(shape.nnodes) ? 2U : 0U) + (takes_nvls ? 1U : 0U);
}

std::uint64_t traffic_factor(const SplitTask& task, int nranks, const SchedulerModel& scheduler) {
  const auto times = static_cast<std::uint64_t>(scheduler.ll_traffic);
  return traffic_per_byte(task.collective, nranks) * (task.protocol == Protocol::LL ? times : 1);
}

/// The channels of one kind and how far they are filled.
struct Filling {
  std::uint64_t per_channel = 0;
  int nchannels = 0;
  int channel = 0;         ///< channel that is being filled
  std::uint64_t used = 0;  ///< traffic already on that channel
};

std::array<Filling, 4> budgets(std::span<const SplitTask> tasks, const SplitShape& shape,
                               const SchedulerModel& scheduler) {
  const int both = std::min(shape.nchannels, shape.nvls_channels);
  const std::array<int, 4> caps{shape.nchannels, shape.nvls_channels, shape.nchannels, both};
  const auto floor = static_cast<std::uint64_t>(scheduler.traffic_floor);
  std::array<std::uint64_t, 4> traffic{};
  std::array<Filling, 4> kinds;
  for (const SplitTask& task : tasks) {
    const std::size_t kind = kind_of(task, shape);
    const std::uint64_t own =
        task.count * task.element * traffic_factor(task, shape.nranks, scheduler);
    traffic[kind] += scheduler.is_plain ? own : std::max(floor, own);
    kinds[kind].nchannels = std::min(kinds[kind].nchannels + task.max_channels, caps[kind]);
  }
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    if (kinds[kind].nchannels == 0) continue;
    const std::uint64_t share = traffic[kind] / static_cast<std::uint64_t>(kinds[kind].nchannels);
    kinds[kind].per_channel =
        scheduler.share_has_floor ? std::max(floor, share) : rounded_up(share, 16);
  }
  return kinds;
}

/// The split of a task into cells: `lo` cells on the channel that is being filled, `each` on the next `nmid` channels,
/// and the remaining `hi` on one more.
struct CellSplit {
  std::uint64_t lo = 0, each = 0, hi = 0;
  int nmid = 0;

  [[nodiscard]] int nchannels() const { return (lo != 0 ? 1 : 0) + nmid + (hi != 0 ? 1 : 0); }
};

CellSplit split_cells(std::uint64_t cells, std::uint64_t cell_traffic, bool is_plain,
                      const Filling& filling) {
  CellSplit split;
  const int left = filling.nchannels - filling.channel;
  split.each = std::min(cells, divided_up(filling.per_channel, cell_traffic));
  const std::uint64_t room =
      filling.per_channel > filling.used ? filling.per_channel - filling.used : 0;
  const std::uint64_t fitting = is_plain ? room / cell_traffic : divided_up(room, cell_traffic);
  split.lo = left == 1 ? cells : std::min(cells, fitting);
  const std::uint64_t rest = cells - split.lo;
  split.nmid = static_cast<int>(rest / split.each);
  split.hi = rest % split.each;
  if (split.nchannels() > left) {
    split.nmid = left - 2;
    const auto shares = static_cast<std::uint64_t>(split.nmid + 1);
    split.each = rest / shares;
    split.hi = split.each + rest % shares;
  }
  if (split.hi == 0 && split.nmid > 0) {
    split.hi = split.each;
    --split.nmid;
  }
  return split;
}

/// Splits the task, and moves `filling` to where the next task starts.
ChannelSplit split_task(const SplitTask& task, int nranks, const SchedulerModel& scheduler,
                        Filling& filling) {
  const std::uint64_t factor = traffic_factor(task, nranks, scheduler);
  const auto floor = static_cast<std::uint64_t>(scheduler.traffic_floor);
  const std::uint64_t cell = scheduler.is_plain ? 16 : rounded_up(divided_up(floor, factor), 16);
  const std::uint64_t per_cell = cell / task.element;  // elements
  const std::uint64_t cells = divided_up(task.count * task.element, cell);
  CellSplit split = split_cells(cells, cell * factor, scheduler.is_plain, filling);
  if (split.lo == 0) {  // the channel is full, so the next channel is the first
    ++filling.channel;
    filling.used = 0;
    if (split.nmid == 0) {
      split.lo = split.hi;
      split.hi = 0;
    } else {
      split.lo = split.each;
      --split.nmid;
    }
  }
  ChannelSplit out{.first = filling.channel,
                   .last = filling.channel + split.nchannels() - 1,
                   .lo = split.lo * per_cell,
                   .mid = split.nmid > 0 ? split.each * per_cell : 0,
                   .hi = split.hi * per_cell};
  (out.hi != 0 ? out.hi : out.lo) -= cells * per_cell - task.count;

  // Before 2.23 the last cell counted with its real size only.
  const std::uint64_t cell_traffic = cell * factor;
  const std::uint64_t unused =
      scheduler.is_plain ? (cells * per_cell - task.count) * task.element * factor : 0;
  if (split.hi != 0) {
    filling.used = split.hi * cell_traffic - unused;
  } else if (split.nmid > 0) {
    filling.used = split.each * cell_traffic - unused;
  } else {
    filling.used += split.lo * cell_traffic - unused;
  }
  filling.channel = out.last;
  if (filling.used >= filling.per_channel && filling.channel + 1 < filling.nchannels) {
    ++filling.channel;
    filling.used = 0;
  }
  return out;
}

}  // namespace

std::uint64_t traffic_per_byte(Collective collective, int nranks) {
  switch (collective) {
    case Collective::AllReduce:
      return 2;
    case Collective::AllGather:
    case Collective::ReduceScatter:
      return static_cast<std::uint64_t>(nranks);
    default:
      return 1;
  }
}

namespace {

constexpr std::uint64_t kWarpThreads = 32;   // threads
constexpr std::uint64_t kLlThreadBytes = 8;  // of data in a thread's 16-byte line
constexpr std::uint64_t kLl128WarpBytes =
    480;  // of data in the 4 lines of 128 bytes that a warp moves at once
constexpr std::uint64_t kSimpleGrain = 4096;

/// Returns the bytes that a block moves at once with the protocol.
std::uint64_t byte_grain(const SplitTask& task) {
  const auto nthreads = static_cast<std::uint64_t>(task.nthreads);
  switch (task.protocol) {
    case Protocol::LL:
      return kLlThreadBytes * nthreads;
    case Protocol::LL128:
      return kLl128WarpBytes * (nthreads / kWarpThreads);
    case Protocol::Simple:
      break;
  }
  return kSimpleGrain;
}

/// Returns the limit of bytes per channel.
Filling byte_budget(std::span<const SplitTask> tasks, const SplitShape& shape) {
  std::uint64_t bytes = 0;
  Filling filling;
  int most = shape.nchannels;
  for (const SplitTask& task : tasks) {
    if (kind_of(task, shape) >= 2) continue;
    bytes += task.count * task.element;
    filling.nchannels += task.max_channels;
    if (facts_of(task.algorithm).takes_nvswitch) most = std::max(most, shape.nvls_channels);
  }
  filling.nchannels = std::min(filling.nchannels, most);
  if (filling.nchannels > 0) {
    filling.per_channel =
        rounded_up(divided_up(bytes, static_cast<std::uint64_t>(filling.nchannels)), 16);
  }
  return filling;
}

ChannelSplit split_bytes(const SplitTask& task, Filling& filling) {
  const std::uint64_t grain = std::max(byte_grain(task), task.element);
  ChannelSplit out{.first = filling.channel, .last = filling.channel};
  std::uint64_t left = task.count * task.element;
  for (bool is_first = true; left > 0; is_first = false) {
    const bool is_last = filling.channel + 1 >= filling.nchannels;
    const std::uint64_t room = std::max(filling.per_channel, filling.used + 1) - filling.used;
    const std::uint64_t piece = is_last ? left : std::min(left, rounded_up(room, grain));
    left -= piece;
    out.last = filling.channel;
    if (is_first) {
      out.lo = piece / task.element;
    } else {
      out.mid = left > 0 ? piece / task.element : out.mid;
      out.hi = piece / task.element;
    }
    filling.used += piece;
    if (filling.used >= filling.per_channel && !is_last) {
      ++filling.channel;
      filling.used = 0;
    }
  }
  return out;
}

}  // namespace

std::vector<ChannelSplit> split_channels(std::span<const SplitTask> tasks, const SplitShape& shape,
                                         const SchedulerModel& scheduler) {
  std::array<Filling, 4> kinds = budgets(tasks, shape, scheduler);
  Filling bytes = byte_budget(tasks, shape);
  std::vector<ChannelSplit> splits;
  splits.reserve(tasks.size());
  for (const SplitTask& task : tasks) {
    RINGSIDE_ASSERT(task.count > 0 && task.max_channels > 0, "{} elements on {} channels",
                    task.count, task.max_channels);
    const std::size_t kind = kind_of(task, shape);
    if (kind >= 2 || scheduler.kind == Scheduler::Loops) {
      splits.push_back({.first = 0, .last = task.max_channels - 1, .lo = task.count});
    } else if (scheduler.kind == Scheduler::Bytes) {
      splits.push_back(split_bytes(task, bytes));
    } else {
      splits.push_back(split_task(task, shape.nranks, scheduler, kinds[kind]));
    }
  }
  return splits;
}

}  // namespace ringside
