#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>
#include <thread>

#include "base/folder.h"
#include "engine/runtime/bootstrap/launch.h"
#include "harness/job.h"
#include "harness/program_run.h"
#include "harness/scenario/plan_faults.h"
#include "study/scenario/played_trace.h"
#include "study/scenario/scenario_parts.h"

namespace ringside::study {
namespace {

/// The elements of a call: what a few processes of one machine can move in some milliseconds.
constexpr std::int64_t kMostElements = 1 << 20;
/// How long present processes wait for a missing one.
constexpr Seconds kJoinPatience{3};

using End = ScenarioOutcome::End;

/// Returns whether the folder holds more than traces and logs.
Result<bool> has_dumps(const std::string& folder) {
  RINGSIDE_TRY(const std::vector<std::string> names, names_in(folder));
  return std::ranges::any_of(names, [](const std::string& name) {
    return !name.ends_with(".rtrace") && !name.ends_with(".log");
  });
}

Status check_launch(const LaunchInfo& launched, const ScenarioQuestion& question) {
  if (launched.nranks != question.scenario.outline.ranks) {
    return Error{
        ErrorCode::InvalidArgument,
        fmt::format("a scenario of {} ranks under {}, which started {}",
                    question.scenario.outline.ranks, to_string(launched.launcher), launched.nranks),
        "start as many as it has"};
  }
  if (!question.folder.empty()) return {};
  return Error{
      ErrorCode::InvalidArgument,
      fmt::format("no folder for what the ranks leave, under {}", to_string(launched.launcher)),
      "name one that all hosts share: -o DIR"};
}

/// Waits for dumps of ranks on other hosts, which write them when they learn of the end. Ranks that have ended write
/// none.
Status await_dumps(const std::string& folder, int ranks) {
  constexpr int kTries = 30;
  for (int i = 0; i < kTries; ++i) {
    RINGSIDE_TRY(const std::vector<std::string> names, names_in(folder));
    if (std::ssize(names) > ranks) break;  // the trace is one more file
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return {};
}

/// Returns the operation timeout. In simulated time no rank times out without a watchdog; real ranks wait until the
/// planned faults have ended, and 2 s more.
Seconds patience_of(const ScenarioQuestion& question, const FaultPlan& plan) {
  if (question.timeout) return *question.timeout;
  if (question.scenario.watchdog) return *question.scenario.watchdog;
  Seconds longest{};
  for (const Fault& fault : plan.faults) {
    if (fault.kind != FaultKind::SlowLink)
      longest = std::max(longest, fault.by.value_or(Seconds{}));
  }
  return longest + Seconds{2};
}

/// NCCL does not compare reductions: ringside's check of calls must not report ranks that differ only in them.
bool differ_in_reductions_alone(const FaultPlan& plan) {
  const auto is_reduction = [](const Fault& one) { return one.kind == FaultKind::WrongOp; };
  return std::ranges::any_of(plan.faults, is_reduction) &&
         std::ranges::all_of(plan.faults, [&](const Fault& one) {
           return is_reduction(one) || is_link_fault(one.kind) || one.kind == FaultKind::Late;
         });
}

/// errors  InvalidArgument: real processes cannot run the scenario
Status check_processes(const ScenarioQuestion& question,
                       const std::optional<LaunchInfo>& launched) {
  const Scenario& scenario = question.scenario;
  if (launched) RINGSIDE_TRY(check_launch(*launched, question));
  if (!launched && scenario.outline.ranks > kMostRealRanks) {
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("{} ranks as processes of this machine", scenario.outline.ranks),
                 fmt::format("{} at most; --on sim takes any number", kMostRealRanks)};
  }
  if (std::ranges::find(scenario.absent, 0) != scenario.absent.end()) {
    return Error{ErrorCode::InvalidArgument,
                 "rank 0 absent, on real ranks: the others connect to it",
                 "another rank, or --on sim"};
  }
  return {};
}

/// Keeps the absent ranks from joining: they wait until the job ends them.
std::function<void(Rank, JobStage)> hold_absent(const std::vector<int>& absent) {
  return [&absent](Rank rank, JobStage stage) {
    if (stage != JobStage::Bootstrap) return;
    while (std::ranges::find(absent, to_int(rank)) != absent.end()) ::pause();
  };
}

/// Returns the options of the job, which refer to the scenario.
ringside::JobOptions job_of(const ScenarioQuestion& question, const hangs::Program& program,
                            const FaultPlan& faults, const std::string& folder, bool is_launched) {
  const Scenario& scenario = question.scenario;
  ringside::JobOptions job;
  if (!is_launched) job.local_ranks = scenario.outline.ranks;
  job.communicator.op_timeout = patience_of(question, faults);
  if (differ_in_reductions_alone(faults)) job.communicator.check_calls = false;
  if (!scenario.absent.empty()) {
    job.join_timeout = kJoinPatience;
    job.on_stage = hold_absent(scenario.absent);
  }
  job.grace = Seconds{1};
  job.memory = program_memory(program, kMostElements);
  job.communicator.family = scenario.outline.families.front().name;
  job.faults = faults;
  job.dumps = folder;
  if (!question.folder.empty()) {
    job.trace_path = folder + "/run.rtrace";
    if (!is_launched) job.logs = folder;
  }
  return job;
}

/// Judges a failed job by what its ranks left in the folder. A job that left no evidence failed without a hang.
Status judge_failure(const ScenarioQuestion& question, const std::string& folder, bool is_launched,
                     ScenarioOutcome& outcome) {
  const Scenario& scenario = question.scenario;
  if (is_launched) RINGSIDE_TRY(await_dumps(folder, scenario.outline.ranks));
  RINGSIDE_TRY(const bool are_dumps_there, has_dumps(folder));
  if (!are_dumps_there) {
    if (scenario.absent.empty()) return {};
    // No call was made, so there are no dumps: the job's error message is the only evidence.
    std::ofstream(folder + "/job.log") << outcome.failure << "\n";
  }
  outcome.end = End::Hang;
  if (!question.folder.empty()) RINGSIDE_TRY(add_dumps_to_trace(folder));
  RINGSIDE_TRY(outcome.verdict, verdict_of(folder));
  return {};
}

}  // namespace

Result<ScenarioOutcome> run_on_processes(const ScenarioQuestion& question) {
  const Scenario& scenario = question.scenario;
  RINGSIDE_TRY(const std::optional<LaunchInfo> launched, launch_from_environment());
  RINGSIDE_TRY(check_processes(question, launched));
  ScenarioOutcome outcome;
  outcome.ranks = outcome.kinds = scenario.outline.ranks;
  if (launched) outcome.reports = launched->rank == 0;
  const hangs::Program program = hangs::make_program(scenario.outline);
  RINGSIDE_TRY(const FaultPlan drawn,
               scenario.faults.drawn_for(scenario.outline.ranks, most_calls(program)));
  // Planning changes a program: a copy is planned for the notes, since real ranks play the faults themselves.
  hangs::Program copy = program;
  if (const auto planned = plan_faults(drawn, copy)) outcome.notes = planned->idle;
  RINGSIDE_TRY(const EvidenceFolder folder, EvidenceFolder::make(question.folder));
  // The other ranks get no further than the first call.
  if (outcome.reports) RINGSIDE_TRY(make_empty_folder(folder.path()));
  const auto status =
      ringside::run_job(job_of(question, program, drawn, folder.path(), launched.has_value()),
                        [&](JobRank& rank) { return run_program(rank, program, kMostElements); });
  if (status) return outcome;
  outcome.failure = status.error().message;
  outcome.end = End::Failed;
  if (outcome.reports) {
    RINGSIDE_TRY(judge_failure(question, folder.path(), launched.has_value(), outcome));
  }
  return outcome;
}

}  // namespace ringside::study
