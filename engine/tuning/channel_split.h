#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/vocabulary.h"
#include "engine/tuning/model.h"
#include "ringside/units.h"

namespace ringside {

/// One collective of a launch, decided but for its channels.
struct SplitTask {
  Collective collective = Collective::AllReduce;
  Algorithm algorithm = Algorithm::Ring;
  Protocol protocol = Protocol::Simple;
  std::uint64_t count = 0;    ///< elements of one rank: of the smaller of its buffers
  std::uint64_t element = 1;  ///< bytes
  int max_channels = 1;
  int nthreads =
      0;  ///< of a block: where bytes are dealt out, pieces are a multiple of what they move
};

/// Consecutive channels and what each handles of a rank's elements: the first `lo`, the last `hi`,
/// those between `mid` each. One channel: `lo` alone.
struct ChannelSplit {
  int first = 0, last = 0;
  std::uint64_t lo = 0, mid = 0, hi = 0;  ///< elements

  [[nodiscard]] int nchannels() const { return last - first + 1; }
};

struct SplitShape {
  int nranks = 1, nnodes = 1;
  int nchannels = 1, nvls_channels = 0;
  bool pat_takes_nvls_channels = false;  ///< with several ranks per node
};

/// The distribution over channels: tasks follow each other without gaps, and each channel gets the same
/// traffic (2.22 on) or bytes (2.20, 2.21). CollNet, and NVLS across nodes, spread every task over all of
/// its channels; lo is then the whole count. So do all tasks up to 2.19.
///
/// tasks    of one launch, in NCCL's order; by kind, rings and trees before NVLS before CollNet
/// returns  one split a task, in the order of `tasks`
/// limits   2.18 and 2.19 put a task of several on the least loaded channels: here on the first ones
/// source   NCCL 2.30.7 enqueue.cc: scheduleCollTasksToPlan; 2.22, 2.23, 2.26, 2.29 where the model says so;
///          2.20.3 enqueue.cc: scheduleCollTasksToPlan and addCBDCollToPlan
std::vector<ChannelSplit> split_channels(std::span<const SplitTask> tasks, const SplitShape& shape,
                                         const SchedulerModel& scheduler);

/// Bytes that pass a channel for each byte of a rank's elements; LL's flags not counted.
/// returns  all_reduce 2; all_gather, reduce_scatter the ranks; otherwise 1
std::uint64_t traffic_per_byte(Collective collective, int nranks);

}  // namespace ringside
