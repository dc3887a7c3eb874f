#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
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

/// There may be a trace and logs in addition to dumps.
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
    if (std::ssize(names) > ranks) break;  // and the trace
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return {};
}

/// In simulated time no rank times out without a watchdog: real ranks wait until the planned faults have ended, and 2
/// s.
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

}  // namespace

Result<ScenarioOutcome> run_on_processes(const ScenarioQuestion& question) {
  const Scenario& scenario = question.scenario;
  ScenarioOutcome outcome;
  outcome.ranks = outcome.kinds = scenario.outline.ranks;
  RINGSIDE_TRY(const std::optional<LaunchInfo> launched, launch_from_environment());
  if (launched) {
    RINGSIDE_TRY(check_launch(*launched, question));
    outcome.speaks = launched->rank == 0;
  }
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
  const hangs::Program program = hangs::make_program(scenario.outline);
  RINGSIDE_TRY(const FaultPlan drawn,
               scenario.faults.drawn_for(scenario.outline.ranks, most_calls(program)));
  {
    hangs::Program tried = program;
    if (const auto planned = plan_faults(drawn, tried)) outcome.notes = planned->idle;
  }
  RINGSIDE_TRY(const EvidenceFolder folder, EvidenceFolder::make(question.folder));
  // The other ranks get no further than the first call.
  if (outcome.speaks) RINGSIDE_TRY(make_empty_folder(folder.path()));
  ringside::JobOptions job;  // not the one of a question
  if (!launched) job.local_ranks = scenario.outline.ranks;
  job.communicator.op_timeout = patience_of(question, drawn);
  if (differ_in_reductions_alone(drawn)) job.communicator.check_calls = false;
  if (!scenario.absent.empty()) {
    job.join_timeout = kJoinPatience;
    job.on_stage = [&](Rank rank, JobStage stage) {
      if (stage != JobStage::Bootstrap) return;
      // A rank that is absent is ended with the job.
      while (std::ranges::find(scenario.absent, to_int(rank)) != scenario.absent.end()) ::pause();
    };
  }
  job.grace = Seconds{1};
  job.memory = program_memory(program, kMostElements);
  job.communicator.family = scenario.outline.families.front().name;
  job.faults = drawn;
  job.dumps = folder.path();
  if (!question.folder.empty()) {
    job.trace_path = folder.path() + "/run.rtrace";
    if (!launched) job.logs = folder.path();
  }
  const auto status = ringside::run_job(
      job, [&](JobRank& rank) { return run_program(rank, program, kMostElements); });
  if (status) return outcome;
  outcome.failure = status.error().message;
  outcome.end = End::Failed;
  if (!outcome.speaks) return outcome;
  if (launched) RINGSIDE_TRY(await_dumps(folder.path(), scenario.outline.ranks));
  RINGSIDE_TRY(const bool are_dumps_there, has_dumps(folder.path()));
  if (!are_dumps_there) {
    if (scenario.absent.empty()) return outcome;
    // No call was made, so there are no dumps: the job's error message is the only evidence.
    std::ofstream(folder.path() + "/job.log") << outcome.failure << "\n";
  }
  outcome.end = End::Hang;
  if (!job.trace_path.empty()) RINGSIDE_TRY(add_dumps_to_trace(folder.path()));
  RINGSIDE_TRY(outcome.verdict, verdict_of(folder.path()));
  return outcome;
}

}  // namespace ringside::study
