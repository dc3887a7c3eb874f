#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "engine/channels/channels.h"
#include "engine/collectives/plan.h"
#include "engine/tuning/choice.h"

namespace ringside {

/// One collective to be simulated on a cluster.
struct SimRequest {
  Cluster cluster;
  Channels channels;  ///< over the cluster's ranks
  Choice choice;
  CallShape call;
  std::string trace_path = {};  ///< where each rank's steps are written, as .rtrace; empty: nowhere
  /// Told now and then, from the calling thread, which share of the steps is done (0 to 1).
  std::function<void(double)> progress = {};
};

struct SimResult {
  Seconds time;  ///< simulated, of the slowest rank; the launch (latency.base) included
  std::int64_t transfers = 0;  ///< chunks that crossed a link: SimGrid activities
  std::int64_t steps = 0;      ///< primitives, over all ranks and channels
  Seconds wall;  ///< what the simulation took; the one field that differs between runs
};

/// Simulates the collective: one SimGrid actor a rank and channel runs the algorithm's own text, each
/// chunk is one communication over the links it crosses, and shares them with the others there.
///
/// What a step costs: the latency of its link (gpu_step, net_step), and its bytes at its share of the
/// bandwidth. Flow control is the FIFO's: 8 slots a connection, a chunk takes choice.slots_per_chunk
/// from when its sender starts it until its receiver has consumed it, and one that is to be passed on
/// is consumed once the way on has room. Reducing and copying inside a GPU cost nothing of their own.
/// The same request gives the same result to the last digit.
///
/// Threads  the calling process must have no other thread: the simulation runs in a forked child
///          (SimGrid has one engine a process), which ends with its parent
/// errors   as plan_channels; System: the trace path cannot be written (found before simulating), no
///          process to be had, or the simulator crashed; Timeout: a deadlock, with who waits for what;
///          InvalidArgument: slots_per_chunk beyond the 8 slots, rings of other ranks than the cluster's;
///          Corrupt: a chunk arrives that its receiver does not expect, or is never received
Result<SimResult> simulate(const SimRequest& request);

}  // namespace ringside
