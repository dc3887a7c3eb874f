#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/vocabulary.h"
#include "engine/tuning/model.h"
#include "ringside/units.h"

namespace ringside {

/// One collective of a launch whose algorithm and protocol are chosen, but not its channels.
struct SplitTask {
  Collective collective = Collective::AllReduce;
  Algorithm algorithm = Algorithm::Ring;
  Protocol protocol = Protocol::Simple;
  std::uint64_t count = 0;    ///< elements of the smaller of a rank's buffers
  std::uint64_t element = 1;  ///< bytes
  int max_channels = 1;
  /// Threads of a block; with Scheduler::Bytes, shares are a multiple of the data that they move at once
  int nthreads = 0;
};

/// A range of channels and their shares of a rank's elements: `lo` for the first channel, `hi` for the last, `mid` for
/// each in between. A single channel has `lo`.
struct ChannelSplit {
  int first = 0, last = 0;
  std::uint64_t lo = 0, mid = 0, hi = 0;  ///< elements

  [[nodiscard]] int nchannels() const { return last - first + 1; }
};

/// The communicator and the call that channels are chosen for.
struct SplitShape {
  int nranks = 1, nnodes = 1;
  int nchannels = 1, nvls_channels = 0;
  bool pat_takes_nvls_channels = false;  ///< with several ranks per node
};

/// Distributes the tasks over channels, one after the other without gaps. Each channel gets the same traffic (2.22 on)
/// or bytes (2.20, 2.21). CollNet, NVLS across nodes, and all tasks up to 2.19 use all their channels; lo is then the
/// whole count.
///
/// tasks    tasks of one launch in NCCL's order: rings and trees, then NVLS, then CollNet
/// returns  one split for each task, in the order of `tasks`
/// limits   with several tasks, 2.18 and 2.19 use the least loaded channels; this function uses the first ones
/// source   NCCL 2.30.7 enqueue.cc: scheduleCollTasksToPlan; 2.22, 2.23, 2.26, 2.29 where the model says so;
///          2.20.3 enqueue.cc: scheduleCollTasksToPlan and addCBDCollToPlan
std::vector<ChannelSplit> split_channels(std::span<const SplitTask> tasks, const SplitShape& shape,
                                         const SchedulerModel& scheduler);

/// Returns the bytes that a channel transfers for each byte of a rank's elements, without LL's flags.
/// returns  all_reduce: 2; all_gather, reduce_scatter: nranks; otherwise 1
std::uint64_t traffic_per_byte(Collective collective, int nranks);

}  // namespace ringside
