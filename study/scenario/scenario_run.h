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

struct ScenarioQuestion {
  Scenario scenario;
  bool is_real = false;
  std::string folder = {};        ///< for dumps and logs: none, or an empty one; made
  std::string fidelity = "auto";  ///< of simulated calls
  /// KEY and VALUE as `--vary` has them, over the scenario's cluster; for simulated calls.
  std::vector<std::pair<std::string, std::string>> settings = {};
  /// Real: a call without progress for so long fails; none: the scenario's watchdog, else 2 s beyond its faults.
  std::optional<Seconds> timeout = {};
  bool asks_ncclras = true;  ///< ncclras is queried when a simulated job hangs
  /// Fill ScenarioOutcome::played, of a simulated run; dumps and logs only of a run that hangs.
  bool keeps_calls = false;
};

/// How a rank's GPU spends a step. Means over the job's ranks and iterations; of simulated runs.
struct StepTimes {
  Seconds step{};     ///< of an iteration
  Seconds compute{};  ///< in kernels that are no calls
  Seconds exposed{};  ///< in calls that all ranks have entered, without a concurrent kernel
  /// Neither: the pipeline's bubble, ranks that come late, hosts.
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

struct ScenarioOutcome {
  enum class End { Finished, Hang, Failed };
  End end = End::Finished;
  std::string failure;  ///< the message of real ranks
  std::optional<StepTimes> times = {};
  std::optional<TrainingRate> rate = {};  ///< of a training workload in simulated time
  /// Of a training workload: by how much a step may be shorter or longer, by its compute and its exposed calls.
  std::optional<Seconds> error = {};
  std::vector<CallTime> calls;  ///< simulated on the scenario's cluster
  std::vector<PlayedCall> played =
      {};  ///< where ScenarioQuestion::keeps_calls; rank by rank, as made
  std::vector<std::string> groups = {};  ///< likewise: "pipeline [3]"
  int ranks = 0;
  int hosts = 0;  ///< of the scenario's cluster that the ranks need; 0: it has none
  int kinds = 0;  ///< of ranks that were played; as many as ranks if each was
  std::optional<hang::Explanation> verdict =
      {};  ///< of a hang: the verdict of `ringside hang` on its evidence
  std::vector<std::string> notes =
      {};  ///< parts of the scenario without effect, such as a fault at a call that is never made
  std::vector<hang::InputFile> files = {};  ///< in the question's folder, if it names one
  std::vector<std::string> findings = {};   ///< ids, where some are expected
  std::vector<std::string> unmet;           ///< unmet expectations; empty: all are met
  bool is_anything_expected = false;
  /// With a launcher only the first rank has the outcome: the others have nothing to report.
  bool speaks = true;
};

const char* to_string(ScenarioOutcome::End end);

/// errors  as load_job(), CallClock::make(), plan_faults(), run_job(), examine(); InvalidArgument: real ranks, and more
///         than kMostRealRanks of them as processes of this machine, or rank 0 absent, where the others meet; under a
///         launcher that started another number of them, or without a folder
Result<ScenarioOutcome> run_scenario(const ScenarioQuestion& question);

inline constexpr int kMostRealRanks = 64;

}  // namespace ringside::study
