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

/// The question "How long does this collective take on that cluster?", as unparsed texts of options
/// or a file.
struct SimQuestion {
  JobOptions job;
  CallWords calls = {.collective = {}, .sizes = "8:1G:2"};
  std::string algorithm = {};         ///< empty: NCCL's choice
  std::string protocol = {};          ///< empty: NCCL's choice
  int channels = 0;                   ///< 0: NCCL's choice
  std::string fidelity = "auto";      ///< a name of fidelities()
  std::string nccl{kDefaultRelease};  ///< NCCL version whose choices are simulated
  std::string net = {};               ///< a NetKind; empty: derived from the NICs' names
  std::string launch = "process";     ///< a LaunchStyle
  std::string model = {};             ///< path of a sim-model/1 file; empty: the embedded one
  std::string trace = {};             ///< path of the .rtrace to write (one size only); empty: none
  /// The call is one of many that are enqueued without waiting; see SimRow::overlap.
  bool is_in_loop = false;
};

/// A checked simulation request, with its question.
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

/// Checks a question and loads its job. A requested algorithm or protocol is set as NCCL_ALGO or
/// NCCL_PROTO, so the error for an unsupported one has NCCL's reason.
///
/// errors  as parse_calls(), load_tuned_job(). InvalidArgument: only a send or a receive, an
///         algorithm for a collective of sends and receives, more channels than there are, a trace
///         of several sizes
Result<SimPlan> plan_simulation(const SimQuestion& question);

/// One tuned call of the plan, ready to simulate.
struct SimCall {
  CallShape shape;
  Bytes bytes;  ///< requested size, rounded to whole elements per rank
  SimTuned tuned;
};

/// Returns NCCL's choice for one size.
/// errors  as tune(): NCCL does not support the call
Result<SimCall> tune_call(const SimPlan& plan, Bytes size);

/// The link of a fabric that needs the longest time for its bytes.
struct BusyFabricLink {
  FabricLink link;
  std::string tier;  ///< "leaf - spine"
  Seconds needs{};   ///< time for its bytes alone
};

/// One simulated call.
struct SimRow {
  SimCall call;
  SimResult result;
  std::optional<SimLink> busiest;  ///< none: no bytes crossed a link
  /// None: the job has no fabric, or does not use it.
  std::optional<BusyFabricLink> busiest_fabric = {};
  bool is_alone = false;  ///< one rank: no data crosses a link, and bandwidths are 0
  BytesPerSecond algbw;   ///< 0 if is_alone
  BytesPerSecond busbw;
  std::string fidelity = {};  ///< that it was simulated by
  bool is_traced = false;     ///< SimExtras::trace has its steps
  std::string path_limit =
      {};                    ///< the longest term of the critical path; only profile_call() sets it
  double path_part = 0;      ///< of the time, what went into that
  std::string why = {};      ///< of auto: why by that one; else empty
  double error_percent = 0;  ///< SimModel::typical_error(), wider beyond what was measured
  double nearer_nccl_error = 0;  ///< of NCCL's own model where it was nearer on comparable systems
  int error_systems = 0;  ///< on how many systems that error was found; 0: it is NCCL's own model's
  Seconds overlap{};      ///< of a loop of such calls: how much of each hides behind the one before

  /// Returns the share of the time that the busiest link needs for its bytes: 0 .. 1.
  [[nodiscard]] double busy_share() const {
    return result.time > Seconds{} ? result.busiest / result.time : 0;
  }
};

/// Optional inputs and outputs of simulate_call().
struct SimExtras {
  std::function<void(double)> progress = {};  ///< as SimRequest::progress
  bool wants_loads = false;                   ///< fill SimResult::loads
  /// Receives the steps in addition to the question's file, if the fidelity has steps and there are
  /// at most most_steps.
  TraceSink* trace = nullptr;
  bool wants_slices = false;  ///< SimRequest::traces_slices
  std::int64_t most_steps = std::numeric_limits<std::int64_t>::max();
};

/// Simulates one call.
/// errors  as simulate(); System: the trace cannot be written, which is detected before simulating
Result<SimRow> simulate_call(const SimPlan& plan, SimCall call, const SimExtras& extras = {});

/// Returns the network of a call.  Ownership  the plan outlives it
JobNetwork network_of(const SimPlan& plan, const SimCall& call);

/// Returns the simulated curve, and that of NCCL's own model if it predicts times.
std::vector<Curve> curves_of(const std::vector<SimRow>& rows);

/// Returns the row with the highest share of link bandwidth in use.
/// shape  rows are not empty
const SimRow& best_of(const std::vector<SimRow>& rows);

/// Returns what limits a call. With a critical path: its longest term ("bandwidth of node *: GPU *
/// -> NVSwitch"). Otherwise: "bandwidth" if a link is busy most of the time; "latency" if a step
/// takes ten times as long as its bytes; else "steps", for waits between steps that the links'
/// loads do not show. "launch" for one rank; "not known" if no link was examined.
std::string limit_of(const SimRow& row);

}  // namespace ringside::study
