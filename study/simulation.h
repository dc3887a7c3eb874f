#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "sim/fidelity.h"
#include "sim/job_network.h"
#include "sim/tuned.h"
#include "study/asked_job.h"
#include "study/calls.h"
#include "study/validate/curve.h"

namespace ringside::study {

/// "How long does this collective take on that cluster?", in words of options or a file.
struct SimQuestion {
  JobOptions job;
  CallWords calls = {.collective = {}, .sizes = "8:1G:2"};
  std::string algorithm = {};         ///< empty: NCCL's choice
  std::string protocol = {};          ///< empty: NCCL's choice
  int channels = 0;                   ///< 0: NCCL's choice
  std::string fidelity = "auto";      ///< a name of fidelities()
  std::string nccl{kDefaultRelease};  ///< version whose choices are simulated
  std::string net = {};               ///< a NetKind; empty: what the NICs' names suggest
  std::string launch = "process";     ///< a LaunchStyle
  std::string model = {};  ///< path of a sim-model/1; empty: the one that comes with ringside
  std::string trace = {};  ///< path of the .rtrace to write, of one size only; empty: none
  bool is_in_loop =
      false;  ///< the call is one of many that are enqueued without waiting: SimRow::overlap
};

/// A checked simulation, with a copy of its question.
struct SimPlan {
  SimQuestion question;
  const Fidelity* fidelity = nullptr;
  Calls calls;
  TunedJob job;
  Surroundings surroundings;
  SystemGroup group;
  SimModel model;
  Channels channels;
};

/// A requested algorithm or protocol becomes NCCL_ALGO or NCCL_PROTO: for an unsupported one the error has NCCL's
/// reason.
///
/// errors  as parse_calls(), load_tuned_job(). InvalidArgument: half a collective, an algorithm for a collective of
///         sends and receives, more channels than there are, a trace of several sizes
Result<SimPlan> plan_simulation(const SimQuestion& question);

/// One call of the plan, before it is simulated.
struct SimCall {
  CallShape shape;
  Bytes bytes;  ///< the size asked for, in whole elements for each rank
  SimTuned tuned;
};

/// errors  as tune(): NCCL does not support it
Result<SimCall> tune_call(const SimPlan& plan, Bytes size);

/// The link of a fabric that needs longest for its bytes.
struct BusyFabricLink {
  FabricLink link;
  std::string tier;  ///< "leaf - spine"
  Seconds needs{};   ///< for its bytes alone
};

/// One call, simulated.
struct SimRow {
  SimCall call;
  SimResult result;
  std::optional<SimLink> busiest;  ///< none: no bytes crossed a link
  std::optional<BusyFabricLink> busiest_fabric =
      {};                 ///< none: the job has no fabric, or does not use it
  bool is_alone = false;  ///< one rank: nothing crosses a link, and there is no bandwidth
  BytesPerSecond algbw;   ///< 0 if is_alone
  BytesPerSecond busbw;
  std::string fidelity = {};     ///< that it was simulated by
  bool is_traced = false;        ///< SimExtras::trace has its steps
  std::string path_limit = {};   ///< the longest term of the critical path; empty: not computed
  double path_part = 0;          ///< of the time, what went into that
  std::string why = {};          ///< of auto: why by that one; else empty
  double error_percent = 0;      ///< SimModel::typical_error(), wider beyond what was measured
  double nearer_nccl_error = 0;  ///< of NCCL's own model where it was nearer on comparable systems
  int error_systems = 0;  ///< on how many systems that error was found; 0: it is NCCL's own model's
  Seconds overlap{};      ///< of a loop of such calls: how much of each hides behind the one before

  /// The share of the time that the busiest link needs for its bytes: 0 .. 1.
  [[nodiscard]] double busy_share() const {
    return result.time > Seconds{} ? result.busiest / result.time : 0;
  }
};

/// Requests to a simulation for more than its result.
struct SimExtras {
  std::function<void(double)> progress = {};  ///< as SimRequest::progress
  bool wants_loads = false;                   ///< SimResult::loads
  /// Gets the steps, if the fidelity has steps, and no more than most_steps; in addition to the question's file.
  TraceSink* trace = nullptr;
  bool wants_slices = false;  ///< SimRequest::traces_slices
  std::int64_t most_steps = std::numeric_limits<std::int64_t>::max();
};

/// errors  as simulate(); System: the trace cannot be written, which is detected before simulating
Result<SimRow> simulate_call(const SimPlan& plan, SimCall call, const SimExtras& extras = {});

/// The links that a call is simulated over.  Ownership  the plan outlives it
JobNetwork network_of(const SimPlan& plan, const SimCall& call);

/// The simulated curve, and NCCL's own model if it has times.
std::vector<Curve> curves_of(const std::vector<SimRow>& rows);

/// The row that uses the links best.
/// shape  rows are not empty
const SimRow& best_of(const std::vector<SimRow>& rows);

/// What limits a call. With a critical path, its longest term ("bandwidth of node *: GPU * -> NVSwitch"). Otherwise:
/// "bandwidth" if a link is busy most of the time; "latency" if a step takes ten times as long as its bytes; else
/// "steps", one after another, whose waits the links' loads do not show. "launch" for one rank; "not known" if no
/// link was examined.
std::string limit_of(const SimRow& row);

}  // namespace ringside::study
