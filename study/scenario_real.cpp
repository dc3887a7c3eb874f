#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/folder.h"
#include "harness/job.h"
#include "harness/program_run.h"
#include "harness/scenario/plan_faults.h"
#include "study/scenario_parts.h"

namespace ringside::study {
namespace {

/// Of a call: what a few processes of one machine move in some milliseconds.
constexpr std::int64_t kMostElements = 1 << 20;

namespace fs = std::filesystem;
using End = ScenarioOutcome::End;

}  // namespace

Result<ScenarioOutcome> run_on_processes(const ScenarioQuestion& question) {
  const Scenario& scenario = question.scenario;
  ScenarioOutcome outcome;
  outcome.ranks = outcome.kinds = scenario.outline.ranks;
  if (scenario.outline.ranks > kMostRealRanks) {
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("{} ranks as processes of this machine", scenario.outline.ranks),
                 fmt::format("{} at most; --on sim takes any number", kMostRealRanks)};
  }
  const hangs::Program program = hangs::make_program(scenario.outline);
  RINGSIDE_TRY(const FaultPlan drawn,
               scenario.faults.drawn_for(scenario.outline.ranks, most_calls(program)));
  {
    hangs::Program tried = program;
    if (const auto planned = plan_faults(drawn, tried)) outcome.notes = planned->idle;
  }
  const EvidenceFolder folder(question.folder);
  RINGSIDE_TRY(make_empty_folder(folder.path()));
  ringside::JobOptions job;  // the other one is a question's
  job.local_ranks = scenario.outline.ranks;
  job.communicator.op_timeout = question.timeout;
  job.grace = Seconds{1};
  job.communicator.family = scenario.outline.families.front().name;
  job.faults = drawn;
  job.dumps = folder.path();
  const auto status = ringside::run_job(
      job, [&](JobRank& rank) { return run_program(rank, program, kMostElements); });
  if (status) return outcome;
  outcome.failure = status.error().message;
  outcome.end = End::Failed;
  if (fs::is_empty(folder.path())) return outcome;
  outcome.end = End::Hang;
  RINGSIDE_TRY(outcome.verdict, verdict_of(folder.path()));
  return outcome;
}

}  // namespace ringside::study
