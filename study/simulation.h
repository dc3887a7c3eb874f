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
  std::string fidelity = {};  ///< name of the fidelity that simulated it
  bool is_traced = false;     ///< SimExtras::trace has its steps
  /// The longest term of the critical path; only profile_call() sets it
  std::string path_limit = {};
  double path_part = 0;      ///< share of the time that this term takes
  std::string why = {};      ///< the reason for the fidelity if `auto` chose it; else empty
  double error_percent = 0;  ///< SimModel::typical_error(), wider beyond what was measured
  /// Error of NCCL's own model, if that is smaller on comparable systems
  double nearer_nccl_error = 0;
  /// Number of systems on which the error was measured; 0: it is that of NCCL's own model
  int error_systems = 0;
  /// In a loop of such calls: the part of each call's time that overlaps with the previous call
  Seconds overlap{};

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
