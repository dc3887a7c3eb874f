#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "engine/collectives/plan.h"
#include "sim/costs.h"
#include "sim/link_loads.h"
#include "sim/network.h"
#include "trace/sink.h"

namespace ringside {

/// One collective to be simulated.
struct SimRequest {
  const SimNetwork* network = nullptr;  ///< outlives the call
  Channels channels;                    ///< over the network's ranks
  Choice choice;
  CallShape call;
  SimCosts costs;
  SimOverheads overheads = {};
  std::optional<Seconds> predicted = {};  ///< NCCL's own predicted time; none: NCCL predicts none
  TraceSink* trace = nullptr;    ///< takes each rank's steps; outlives the call; null: not recorded
  std::string trace_label = {};  ///< what the trace calls the cluster
  bool traces_slices = false;    ///< each slice is a step of the trace, so that it has each message
  bool wants_loads = false;      ///< what each link carries, and when
  /// Receives now and then, from the calling thread, the share of the steps that is done (0 to 1).
  std::function<void(double)> progress = {};
};

struct SimResult {
  Seconds time;  ///< simulated, of the slowest rank; the launch and the overheads included
  std::int64_t transfers =
      0;                   ///< messages that crossed links, slices of chunks: SimGrid activities
  std::int64_t steps = 0;  ///< primitives, over all ranks and channels
  int busiest_link = -1;   ///< id in the network; -1: none was used
  Seconds busiest{};       ///< the link's time for its bytes alone: a lower bound of `time`
  int busiest_fabric_link = -1;    ///< of a fabric between hosts; -1: none was used
  double busiest_fabric_part = 0;  ///< its share of the time of the busiest link of all: 0 to 1
  LinkLoads loads = {};            ///< if they are wanted
  Seconds wall;  ///< what the simulation took; the one field that differs between runs
};

/// Simulates the collective: one SimGrid actor a strand (of a rank, on a channel) runs the algorithm's own
/// text, each message is one communication over the links of its route, and shares them with the others
/// there.
///
/// What a step costs: the latency of its route, and its bytes on the wire at its share of the bandwidth.
/// Flow control is the FIFO's: 8 slots a connection, a chunk takes choice.slots_per_chunk from when its
/// sender starts it until its receiver has consumed it, and one that is to be passed on is consumed once
/// the way on has room. Chunks of long Simple rings travel in two slices (slices.h). Reducing and copying inside a GPU cost nothing of their own.
/// The same request gives the same result to the last digit.
///
/// SimGrid has one engine a process, so a process of its own simulates: ringside-simgrid (sim/simgrid),
/// which is started when it is first needed, serves further calls, and ends with this process.
///
/// Threads  any, several at a time: each has a simulating process to itself
/// errors   as plan_channels; the trace sink's; Unsupported: no ringside-simgrid, with where it was looked for;
///          System: no process to be had, or the simulator crashed; Timeout: a deadlock, with the ranks that wait
///          for what;
///          InvalidArgument: slots_per_chunk beyond the 8 slots, rings of other ranks than the network's, two ranks
///          that must talk, and no way between them;
///          Corrupt: a chunk arrives that its receiver does not expect, or is never received
Result<SimResult> simulate(const SimRequest& request);

}  // namespace ringside
