#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "diag/hangdetect/readers/dump_files.h"
#include "diag/hangdetect/verdict/verdict.h"
#include "harness/scenario/scenario.h"
#include "ringside/units.h"
#include "study/call_times.h"
#include "study/scenario/played_trace.h"

/// Runs a scenario on real or simulated ranks, and compares the outcome with its expectations.
namespace ringside::study {

/// A scenario, and how to run it.
struct ScenarioQuestion {
  Scenario scenario;
  bool is_real = false;
  /// Output folder for dumps and logs; must be empty or not exist; empty text: none.
  std::string folder = {};
  std::string fidelity = "auto";  ///< for simulated calls
  /// KEY and VALUE as in `--vary`, applied to the scenario's cluster; for simulated calls.
  std::vector<std::pair<std::string, std::string>> settings = {};
  /// Real ranks: a call without progress for this time fails; none: the scenario's watchdog, else 2
  /// s more than its faults.
  std::optional<Seconds> timeout = {};
  bool asks_ncclras = true;  ///< query ncclras when a simulated job hangs
  /// Simulated runs only: fill ScenarioOutcome::played. Dumps and logs are then written only if the
  /// run hangs.
  bool keeps_calls = false;
};

/// The parts of a training step on a GPU, as means over ranks and iterations. Simulated runs only.
struct StepTimes {
  Seconds step{};     ///< time of an iteration
  Seconds compute{};  ///< time in kernels other than calls
  Seconds exposed{};  ///< time in calls that all ranks have entered, without a concurrent kernel
  /// Returns the remaining time: pipeline bubbles, waits for late ranks, host work.
  [[nodiscard]] Seconds idle() const { return step - compute - exposed; }
};

/// How efficiently a training step uses its GPUs.
struct TrainingRate {
  double tokens_per_second = 0;  ///< of the whole job
  /// Model FLOPs utilization: TrainingFacts::model_flops in the time of a step, over the peak of all GPUs.
  /// source  Chowdhery et al. 2022, PaLM, 4.1
  double mfu = 0;
};

/// How far compute times that follow from one efficiency are off, either way.
/// source  docs/reference/scenarios.md, "Accuracy of a training step": three published steps, off by 7 to 12 %
inline constexpr double kComputeErrorPercent = 10;

/// The result of a run, compared with the scenario's expectations.
struct ScenarioOutcome {
  enum class End { Finished, Hang, Failed };
  End end = End::Finished;
  std::string failure;  ///< error message of real ranks
  std::optional<StepTimes> times = {};
  std::optional<TrainingRate> rate = {};  ///< of a training workload in simulated time
  /// Of a training workload: by how much a step may be shorter or longer, by its compute and its exposed calls.
  std::optional<Seconds> error = {};
  std::vector<CallTime> calls;  ///< simulated on the scenario's cluster
  /// Where ScenarioQuestion::keeps_calls; rank by rank, as made
  std::vector<PlayedCall> played = {};
  std::vector<TraceEvent> compute = {};  ///< likewise: compute_events()
  std::vector<std::string> groups = {};  ///< likewise: "pipeline [3]"
  int ranks = 0;
  int hosts = 0;  ///< hosts of the scenario's cluster that the ranks use; 0: no cluster
  int kinds = 0;  ///< number of ranks simulated; less than `ranks` if one represents several
  /// Only after a hang: the verdict of `ringside hang` on its evidence.
  std::optional<hang::Explanation> verdict = {};
  /// Texts about parts of the scenario without effect, such as a fault at a call that is never
  /// made.
  std::vector<std::string> notes = {};
  std::vector<hang::InputFile> files = {};  ///< files in the question's folder, if it names one
  /// Ids of audit's findings, if the scenario expects some.
  std::vector<std::string> findings = {};
  std::vector<std::string> unmet;  ///< texts about unmet expectations; empty: all are met
  bool is_anything_expected = false;
  /// False for all ranks but the first under a launcher: only the first rank has the outcome and
  /// reports it.
  bool speaks = true;
};

const char* to_string(ScenarioOutcome::End end);

/// Runs a scenario and checks its expectations.
/// errors  as load_job(), CallClock::make(), plan_faults(), run_job(), examine(); InvalidArgument
///         for real ranks: more than kMostRealRanks of them in processes of this machine; a fault
///         makes rank 0 absent, which the others need to connect; a launcher started another number
///         of ranks, or the question has no folder under a launcher
Result<ScenarioOutcome> run_scenario(const ScenarioQuestion& question);

inline constexpr int kMostRealRanks = 64;

}  // namespace ringside::study
