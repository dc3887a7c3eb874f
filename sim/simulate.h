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

/// A collective to simulate.
struct SimRequest {
  const SimNetwork* network = nullptr;  ///< outlives the call
  Channels channels;                    ///< over the network's ranks
  Choice choice;
  CallShape call;
  SimCosts costs;
  SimOverheads overheads = {};
  /// Time predicted by NCCL's formulas; none: NCCL predicts none.
  std::optional<Seconds> predicted = {};
  TraceSink* trace = nullptr;    ///< receives each rank's steps; outlives the call; null: no trace
  std::string trace_label = {};  ///< name of the cluster in the trace
  /// true: each slice is a step of the trace, so that the trace contains each message.
  bool traces_slices = false;
  bool wants_loads = false;  ///< true: SimResult::loads is filled
  /// Called now and then, from the calling thread, with the completed share of the steps (0 to 1).
  std::function<void(double)> progress = {};
};

/// The result of one simulated call.
struct SimResult {
  Seconds time;  ///< simulated time of the slowest rank, with the launch and the overheads
  /// Messages that crossed links; slices count separately.
  std::int64_t transfers = 0;
  std::int64_t steps = 0;  ///< primitives of all ranks and channels
  int busiest_link = -1;   ///< id in the network; -1: no link was used
  /// Time that the busiest link needs for its bytes: a lower bound of `time`.
  Seconds busiest{};
  int busiest_fabric_link = -1;  ///< busiest link of the fabric between hosts; -1: none was used
  /// Time of that link divided by the time of the busiest link: 0 to 1.
  double busiest_fabric_part = 0;
  LinkLoads loads = {};  ///< if requested by wants_loads
  Seconds wall;          ///< real time that the simulation took; all other fields are deterministic
};

/// Simulates a collective with SimGrid. One SimGrid actor per strand (a sequential part of a rank's
/// program on a channel) runs the algorithm's own code. Each message is one communication over the
/// links of its route and shares these links with other messages.
///
/// A step takes the latency of its route, plus its bytes on the wire at its share of the bandwidth.
/// Flow control is the FIFO's: 8 slots per connection. A chunk occupies choice.slots_per_chunk from
/// the start of its send until its receiver has consumed it; a chunk to be forwarded is consumed
/// once the outgoing connection has room. Chunks of long Simple rings travel in two slices
/// (slices.h). Reducing and copying inside a GPU take no time of their own. Equal requests give
/// bit-identical results.
///
/// SimGrid allows one engine per process, so a worker process simulates: ringside-simgrid
/// (sim/simgrid). It starts when it is first needed, serves further calls, and ends with this
/// process.
///
/// Threads  any, several at a time: each call has a worker process to itself
/// errors   as plan_channels(); those of the trace sink; Unsupported: ringside-simgrid is missing,
///          with the searched places; System: no process can be started, or the simulator crashed;
///          Timeout: a deadlock, with the waiting ranks and their peers; InvalidArgument:
///          slots_per_chunk not in 1 .. 8, rings over other ranks than the network's, an
///          exchange of too many ranks (check_request()), two ranks exchange messages but no route
///          joins them; Corrupt: a chunk arrives that its
///          receiver does not expect, or a chunk is never received
Result<SimResult> simulate(const SimRequest& request);

}  // namespace ringside
