#include "study/scenario/scenario_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <span>
#include <utility>

#include "base/folder.h"
#include "base/text.h"
#include "harness/hangs/calls.h"
#include "harness/hangs/generate.h"
#include "harness/hangs/hang_case.h"
#include "harness/hangs/roles.h"
#include "harness/scenario/fold_program.h"
#include "harness/scenario/plan_faults.h"
#include "sim/fidelity.h"
#include "study/idle_variables.h"
#include "study/scenario/scenario_parts.h"
#include "study/what_if.h"

namespace ringside::study {
namespace {

using End = ScenarioOutcome::End;
using hangs::Program;
using Kind = hangs::Step::Kind;

// ---- times -------------------------------------------------------------------------------------

/// Begin and end, in ns of virtual time.
using Span = std::pair<std::int64_t, std::int64_t>;

/// Returns the union of the spans: sorted, without overlaps. Spans that touch become one.
std::vector<Span> joined(std::vector<Span> spans) {
  std::ranges::sort(spans);
  std::vector<Span> all;
  for (const Span& span : spans) {
    if (!all.empty() && span.first <= all.back().second) {
      all.back().second = std::max(all.back().second, span.second);
    } else {
      all.push_back(span);
    }
  }
  return all;
}

/// Returns the sum of the lengths.  shape  spans do not overlap
std::int64_t length(const std::vector<Span>& spans) {
  std::int64_t sum = 0;
  for (const Span& span : spans) sum += span.second - span.first;
  return sum;
}

/// Computes the parts of a step, as means over ranks and iterations.
///
/// A rank computes while one of its kernels runs. It communicates exposed while a call moves data and no kernel runs:
/// the union of calls and kernels, less the union of kernels. A step lasts until the last rank has ended.
/// copies  by rank of the play: the number of ranks of the job that it represents
StepTimes times_of(const hangs::Play& play, const std::vector<int>& copies, int iterations) {
  std::int64_t end = 0;
  double compute = 0;
  double exposed = 0;
  double ranks = 0;
  for (std::size_t i = 0; i < play.ranks.size(); ++i) {
    const hangs::RankHistory& rank = play.ranks[i];
    end = std::max(end, rank.end.host_time);
    std::vector<Span> kernels;
    for (const hangs::Kernel& kernel : rank.kernels) {
      kernels.emplace_back(kernel.started, kernel.completed);
      end = std::max(end, kernel.completed);
    }
    std::vector<Span> busy = kernels;
    for (const hangs::Record& record : rank.records) {
      // From the moment when all ranks have entered the call: a rank that waits for a late one is idle.
      busy.emplace_back(std::max(record.started, record.moving), record.completed);
      end = std::max(end, record.completed);
    }
    const std::int64_t in_kernels = length(joined(std::move(kernels)));
    const std::int64_t in_all = length(joined(std::move(busy)));
    compute += copies[i] * static_cast<double>(in_kernels);
    exposed += copies[i] * static_cast<double>(in_all - in_kernels);
    ranks += copies[i];
  }
  const auto mean = [&](double sum) { return Seconds{sum / ranks / iterations * 1e-9}; };
  return {.step = Seconds{static_cast<double>(end) / iterations * 1e-9},
          .compute = mean(compute),
          .exposed = mean(exposed)};
}

// ---- calls -------------------------------------------------------------------------------------

/// Copies the calls into the outcome. Records point into the program, which the outcome outlives.
void keep_calls(const hangs::Play& play, const Program& program, ScenarioOutcome& outcome) {
  outcome.groups = group_names(program);
  outcome.compute = compute_events(play, program);
  for (std::size_t rank = 0; rank < play.ranks.size(); ++rank) {
    for (const hangs::Record& record : play.ranks[rank].records)
      outcome.played.push_back(played_call(static_cast<int>(rank), record));
  }
}

// ---- simulated ---------------------------------------------------------------------------------

/// Runs a scenario on simulated ranks. run() chooses the cheapest of three paths that answers the question:
///
/// 1. Ranks that never start: no program runs; run_start() writes the evidence of the ranks that wait for them.
/// 2. Healthy, and only times are asked for: run_folded() plays one rank for each class of equivalent ranks.
/// 3. Otherwise run_whole() plays every rank with the faults. After a hang it writes dumps and logs, and examines them
///    as `ringside hang` does.
///
/// The times of calls come from CallClock where the scenario names a cluster, else from hangs::usual_time().
///
/// Threads  one; run() once
class SimulatedRun {
 public:
  explicit SimulatedRun(const ScenarioQuestion& question)
      : question_(question), scenario_(question.scenario) {
    if (scenario_.training) outcome_.notes = scenario_.training->notes;
  }

  Result<ScenarioOutcome> run() {
    const hangs::Roles roles = hangs::roles_of(scenario_.outline);
    RINGSIDE_TRY(check_size(roles.role_steps, "its kinds of ranks"));
    RINGSIDE_TRY([[maybe_unused]] const Fidelity* const fidelity,
                 parse_fidelity(question_.fidelity));
    if (!scenario_.absent.empty()) return run_start();
    hangs::Outline outline = scenario_.outline;
    if (!scenario_.on.empty()) {
      SimQuestion base;
      base.job = {.on = scenario_.on, .nodes = scenario_.nodes, .set = scenario_.set};
      base.fidelity = question_.fidelity;
      for (const auto& [key, value] : question_.settings) {
        RINGSIDE_TRY(apply_setting(base, key, value));
      }
      for (std::string& note : idle_notes(base.job)) outcome_.notes.push_back(std::move(note));
      RINGSIDE_TRY(break_hosts(base));
      auto clock = CallClock::make(std::move(base), outline.ranks);
      if (!clock) return of_the_cluster(clock.error());
      outline.ranks_per_host = clock->gpus_per_host();
      outcome_.hosts = clock->hosts();
      if (!clock->note().empty()) outcome_.notes.push_back(clock->note());
      note_idle_gpus(*clock, outline.ranks);
      clock_.emplace(*std::move(clock));
    }
    whole_ = hangs::make_program_of(outline, roles.first_of);
    RINGSIDE_TRY(const FaultPlan drawn,
                 scenario_.faults.drawn_for(outline.ranks, most_calls(whole_)));
    outcome_.ranks = outline.ranks;
    outcome_.kinds = outline.ranks;
    const bool is_healthy = drawn.faults.empty();
    // Dumps and calls are wanted of each rank, so their ranks cannot represent each other.
    if (is_healthy && question_.folder.empty() && !question_.keeps_calls) {
      if (auto folded = fold_program(whole_, roles.like, way_of())) {
        RINGSIDE_TRY(const bool is_done, run_folded(*folded, outline.iterations));
        if (is_done) return std::move(outcome_);
      }
    }
    RINGSIDE_TRY(check_size(roles.rank_steps, "all ranks, which are played one by one"));
    whole_ = hangs::make_program(outline);
    if (clock_) hangs::set_path_classes(whole_, way_of());
    RINGSIDE_TRY(const PlannedFaults faults, plan_faults(drawn, whole_, scenario_.watchdog));
    outcome_.notes.insert(outcome_.notes.end(), faults.idle.begin(), faults.idle.end());
    return run_whole(faults, outline.iterations);
  }

 private:
  /// Notes the GPUs without a rank. Only of training workloads, whose layout is meant to use all.
  void note_idle_gpus(const CallClock& clock, int ranks) {
    if (!scenario_.training || ranks == clock.gpus()) return;
    outcome_.notes.push_back(
        fmt::format("{} of {} GPUs have no rank", clock.gpus() - ranks, clock.gpus()));
  }

  /// Replaces the cluster of `base` by hosts with the scenario's host faults (Scenario::broken). Their descriptions are
  /// files in a temporary folder that lives as long as the run.
  Status break_hosts(SimQuestion& base) {
    if (scenario_.broken.empty()) return {};
    const auto whole = CallClock::make(base, scenario_.outline.ranks);
    if (!whole) return of_the_cluster(whole.error());
    RINGSIDE_TRY(EvidenceFolder hosts, EvidenceFolder::make({}));
    hosts_folder_.emplace(std::move(hosts));
    auto broken = broken_job(scenario_, whole->hosts(), hosts_folder_->path());
    if (!broken) return of_the_cluster(broken.error());
    base.job = *std::move(broken);
    return {};
  }

  /// Ranks that never start keep all others in the rendezvous or in the creation of the communicator: no call is made.
  Result<ScenarioOutcome> run_start() {
    outcome_.ranks = outcome_.kinds = scenario_.outline.ranks;
    outcome_.end = End::Hang;
    RINGSIDE_TRY(const EvidenceFolder folder, EvidenceFolder::make(question_.folder));
    RINGSIDE_TRY(hangs::write_start_evidence(scenario_.name, hangs::make_program(scenario_.outline),
                                             scenario_.absent, folder.path()));
    RINGSIDE_TRY(outcome_.verdict, verdict_of(folder.path()));
    return std::move(outcome_);
  }

  /// Checks that the steps fit into memory and time. Each step of each played rank exists once; the iterations of the
  /// outline repeat it.
  /// whose  the ranks that have the steps, for the message
  [[nodiscard]] Status check_size(std::int64_t steps, const char* whose) const {
    constexpr std::int64_t kMostPlayedSteps = 40'000'000;  // some 100 bytes each
    const hangs::Outline& outline = scenario_.outline;
    const auto most = static_cast<std::int64_t>(outline.steps.size()) * outline.iterations;
    if (steps <= kMostPlayedSteps && most <= kMostPlayedSteps) return {};
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("{}: {} steps of {}, in an iteration, {} iterations", scenario_.name,
                             steps, whose, outline.iterations),
                 fmt::format("give fewer ranks, microbatches or iterations: {} steps at most",
                             kMostPlayedSteps)};
  }

  /// Returns an error about the cluster, with the line of the scenario that names it, if one does.
  [[nodiscard]] Error of_the_cluster(Error error) const {
    if (!scenario_.cluster_place.empty()) {
      error.message = fmt::format("{}: {}", scenario_.cluster_place, error.message);
    }
    return error;
  }

  /// Gives the clock each kind of call of the program, so that times() can answer. Of transfers that begin together,
  /// one for each direction and class of path is enough.
  /// group_of  by group of `program`: a group of whole_ that it represents
  Status learn(const Program& program, const std::vector<int>& group_of) {
    if (!clock_) return {};
    const auto learn_one = [&](const hangs::Step& step) -> Status {
      const Status learnt =
          clock_->learn(whole_, step, group_of[static_cast<std::size_t>(step.group)]);
      return learnt ? Status{} : of_the_cluster(learnt.error());
    };
    const auto learn_all = [&](const std::vector<hangs::Step>& body) -> Status {
      for (std::size_t i = 0; i < body.size();) {
        const std::span<const hangs::Step> steps(body.data() + i, hangs::bundle_length(body, i));
        i += steps.size();
        if (steps.front().kind != Kind::Call) continue;
        std::set<std::pair<hangs::Op, int>> ways;
        for (const hangs::Step& step : steps) {
          const hangs::Step shared = hangs::as_shared(steps, step);
          if (hangs::is_p2p(shared.op) && !ways.emplace(shared.op, shared.path_class).second)
            continue;
          RINGSIDE_TRY(learn_one(shared));
        }
      }
      return {};
    };
    for (const hangs::RankProgram& own : program.programs) {
      RINGSIDE_TRY(learn_all(own.body));
      for (const auto& [iteration, body] : own.odd) {
        RINGSIDE_TRY(learn_all(body));
      }
    }
    outcome_.calls = clock_->calls();
    return {};
  }

  /// Returns the classes of paths between ranks. Empty without a cluster: all transfers then take equally long.
  [[nodiscard]] hangs::PathClassOf way_of() {
    if (!clock_) return {};
    return [this](int a, int b) { return clock_->path_class(a, b); };
  }

  /// Returns the durations for the player: the clock's or the usual ones, longer on slow connections.
  /// group_of  as in learn()
  [[nodiscard]] hangs::PlayTimes times(const Program& program, const std::vector<int>& group_of,
                                       const std::vector<SlowConnections>& slow) const {
    hangs::PlayTimes times{.call = {}, .is_even = true};
    times.call = [this, &program, &group_of, &slow](const hangs::Step& step,
                                                    const hangs::Group& group) {
      const int whole = group_of[static_cast<std::size_t>(&group - program.groups.data())];
      const Seconds time = clock_ ? clock_->time(step, whole) : usual_time_of(step, whole);
      return std::chrono::round<Nanoseconds>(std::max(time, slowed(slow, step, group)));
    };
    if (slow.empty()) return times;
    times.transfer = [&slow](const hangs::Step& send, const hangs::Group& group, int from, int to) {
      return std::chrono::round<Nanoseconds>(slowed_transfer(slow, send, group, from, to));
    };
    return times;
  }

  /// Returns the time of a call on hosts of unknown type. A group of one rank moves nothing.
  [[nodiscard]] Seconds usual_time_of(const hangs::Step& step, int group) const {
    const bool is_alone = whole_.groups[static_cast<std::size_t>(group)].ranks.size() < 2;
    return is_alone ? Seconds{} : Seconds{hangs::usual_time(step)};
  }

  /// Plays a program that has one rank for each class.
  /// returns  false: it never ends, so that all ranks must be played to find the culprit
  Result<bool> run_folded(const FoldedProgram& folded, int iterations) {
    RINGSIDE_TRY(learn(folded.program, folded.group_of));
    const hangs::Play play =
        hangs::play(folded.program, {}, 1, times(folded.program, folded.group_of, {}));
    if (play.is_hung()) return false;
    std::vector<int> copies(play.ranks.size());
    for (const int kind : folded.kind_of) ++copies[static_cast<std::size_t>(kind)];
    outcome_.kinds = static_cast<int>(copies.size());
    outcome_.times = times_of(play, copies, iterations);
    return true;
  }

  /// Plays all ranks, and writes dumps and logs if the run hangs or the user named a folder.
  Result<ScenarioOutcome> run_whole(const PlannedFaults& faults, int iterations) {
    std::vector<int> group_of(whole_.groups.size());
    for (std::size_t i = 0; i < group_of.size(); ++i) group_of[i] = static_cast<int>(i);
    RINGSIDE_TRY(learn(whole_, group_of));
    hangs::Play play = hangs::play(whole_, faults.network, 1, times(whole_, group_of, faults.slow));
    if (!play.is_hung()) {
      outcome_.times = times_of(play, std::vector<int>(play.ranks.size(), 1), iterations);
    } else {
      outcome_.end = End::Hang;
    }
    if (question_.keeps_calls) keep_calls(play, whole_, outcome_);
    const bool wants_dumps = !question_.folder.empty() && !question_.keeps_calls;
    if (outcome_.end == End::Finished && !wants_dumps) return std::move(outcome_);
    RINGSIDE_TRY(const EvidenceFolder folder, EvidenceFolder::make(question_.folder));
    const bool is_hung = outcome_.end == End::Hang;
    hangs::HangCase left =
        hangs::kept_case(scenario_.name, std::move(whole_), std::move(play), scenario_.watchdog);
    left.evidence.has_ras = is_hung && question_.asks_ncclras;
    RINGSIDE_TRY(hangs::write_evidence(left, folder.path()));
    if (!left.evidence.has_calls) {
      outcome_.notes.push_back(fmt::format(
          "no log has NCCL's lines: these calls would make more than {}", hangs::kMostCallLines));
    }
    if (wants_dumps) RINGSIDE_TRY(leave_trace(left));
    if (is_hung) {
      RINGSIDE_TRY(outcome_.verdict, verdict_of(folder.path()));
    }
    return std::move(outcome_);
  }

  /// Writes run.rtrace next to the dumps.
  Status leave_trace(const hangs::HangCase& left) {
    RINGSIDE_TRY(const PlayedTrace trace, write_trace(left.play, left.program, scenario_.name,
                                                      question_.folder + "/run.rtrace"));
    if (trace.left_out > 0) {
      outcome_.notes.push_back(
          fmt::format("run.rtrace has the last {} calls, those that ended after {}", trace.calls,
                      format_time(Seconds{static_cast<double>(trace.from_ns) * 1e-9})));
    }
    return add_dumps_to_trace(question_.folder);
  }

  const ScenarioQuestion& question_;
  const Scenario& scenario_;
  std::optional<EvidenceFolder> hosts_folder_;  ///< descriptions of hosts with faults
  std::optional<CallClock> clock_;              ///< nullopt: the scenario names no cluster
  Program whole_;                               ///< the program of all ranks
  ScenarioOutcome outcome_;
};

// ---- expectations ------------------------------------------------------------------------------

/// Returns whether the verdict names the expected call.
/// verdict_call  `all_reduce 812 of default_pg`
bool is_that_call(const ExpectedCall& expected, const std::string& verdict_call,
                  const hangs::Outline& outline) {
  const auto word = [&](std::size_t from) {
    return verdict_call.substr(from, verdict_call.find(' ', from) - from);
  };
  const std::size_t number = verdict_call.find(' ');
  const std::size_t of = verdict_call.rfind(" of ");
  if (number == std::string::npos || of == std::string::npos) return false;
  if (!expected.call.empty() && word(0) != expected.call) return false;
  if (expected.number && word(number + 1) != std::to_string(*expected.number)) return false;
  if (expected.on.empty()) return true;
  const auto family = std::ranges::find(outline.families, expected.on, &hangs::Family::name);
  return family != outline.families.end() && verdict_call.substr(of + 4) == family->desc;
}

std::string call_text(const ExpectedCall& call) {
  return fmt::format("{}{}{}", call.call.empty() ? "a call" : call.call,
                     call.number ? fmt::format(" {}", *call.number) : std::string(),
                     call.on.empty() ? std::string() : " of " + call.on);
}

std::string gbs(BytesPerSecond rate) { return fmt::format("{:.2f} GB/s", rate.value / 1e9); }

/// Compares the bus bandwidth of every simulated call of that name and family with the expected bounds.
void compare_busbw(const ExpectedBusbw& expected, ScenarioOutcome& outcome) {
  bool is_there = false;
  for (const CallTime& one : outcome.calls) {
    if (one.call != expected.call || one.groups != expected.on) continue;
    is_there = true;
    const std::string what = fmt::format("{} of {} B on {} has {}", one.call, one.bytes.value,
                                         one.groups, gbs(one.busbw));
    if (expected.at_least && one.busbw < *expected.at_least) {
      outcome.unmet.push_back(
          fmt::format("{}, expected at least {}", what, gbs(*expected.at_least)));
    }
    if (expected.at_most && one.busbw > *expected.at_most) {
      outcome.unmet.push_back(fmt::format("{}, expected at most {}", what, gbs(*expected.at_most)));
    }
  }
  if (!is_there) {
    outcome.unmet.push_back(
        fmt::format("expected a bus bandwidth of {} on {}, and no such call moves data",
                    expected.call, expected.on));
  }
}

std::string ranks_text(const std::vector<int>& ranks) {
  return ranks.empty() ? "none" : fmt::format("[{}]", fmt::join(ranks, ", "));
}

/// Adds a sentence to ScenarioOutcome::unmet for each expectation that the outcome does not meet. Bus bandwidths are
/// compared in simulated runs only.
void compare(const Scenario& scenario, bool is_real, ScenarioOutcome& outcome) {
  const Expectation& expected = scenario.expect;
  if (!expected.outcome) return;
  outcome.is_anything_expected = true;
  const bool is_hang = *expected.outcome == Expectation::Outcome::Hang;
  if (is_hang != (outcome.end != End::Finished)) {
    const char* const ended = is_hang ? "finished" : outcome.end == End::Failed ? "failed" : "hung";
    outcome.unmet.push_back(
        fmt::format("expected {}, and it {}", is_hang ? "a hang" : "it to finish", ended));
    return;
  }
  if (is_hang) {
    const std::string kind = outcome.verdict ? hang::to_string(outcome.verdict->kind) : "unknown";
    if (std::ranges::find(expected.kinds, kind) == expected.kinds.end()) {
      outcome.unmet.push_back(fmt::format("expected {}, and the verdict is {}",
                                          fmt::join(expected.kinds, " or "), kind));
    }
    const std::vector<int> culprits =
        outcome.verdict ? outcome.verdict->culprits : std::vector<int>{};
    if (expected.culprits && *expected.culprits != culprits) {
      outcome.unmet.push_back(fmt::format("expected the culprits {}, and the verdict names {}",
                                          ranks_text(*expected.culprits), ranks_text(culprits)));
    }
    const std::string call = outcome.verdict ? outcome.verdict->call : std::string();
    if (expected.call && !is_that_call(*expected.call, call, scenario.outline)) {
      outcome.unmet.push_back(fmt::format("expected it in {}, and the verdict names {}",
                                          call_text(*expected.call), call.empty() ? "none" : call));
    }
    return;
  }
  if (!outcome.times) return;
  const Seconds step = outcome.times->step;
  if (expected.at_least && step < *expected.at_least) {
    outcome.unmet.push_back(fmt::format("a step takes {}, expected at least {}", format_time(step),
                                        format_time(*expected.at_least)));
  }
  if (expected.at_most && step > *expected.at_most) {
    outcome.unmet.push_back(fmt::format("a step takes {}, expected at most {}", format_time(step),
                                        format_time(*expected.at_most)));
  }
  if (is_real) return;
  for (const ExpectedBusbw& one : expected.busbw) compare_busbw(one, outcome);
}

/// source  TrainingRate: tokens of a step by its time; FLOPs of the model in a step by the peak of all GPUs in that
///         time
std::optional<TrainingRate> rate_of(const Scenario& scenario, const ScenarioOutcome& outcome) {
  if (!scenario.training || !outcome.times || outcome.times->step <= Seconds{}) return {};
  const TrainingFacts& facts = *scenario.training;
  const double step = outcome.times->step.count();
  return TrainingRate{.tokens_per_second = scenario.outline.tokens / step,
                      .mfu = facts.model_flops / step / (outcome.ranks * facts.gpu_flops)};
}

/// Returns the typical error of a step. The errors of compute and of exposed calls are independent, so their squares
/// add.
std::optional<Seconds> error_of(const Scenario& scenario, const ScenarioOutcome& outcome) {
  if (!scenario.training || !outcome.times) return {};
  const double compute = outcome.times->compute.count() * kComputeErrorPercent / 100;
  const double exposed = outcome.times->exposed.count() * error_percent_of(outcome.calls) / 100;
  return Seconds{std::hypot(compute, exposed)};
}

/// Compares audit's findings with those that the scenario expects.
Status compare_findings(const Scenario& scenario, ScenarioOutcome& outcome) {
  if (scenario.expect.findings.empty()) return {};
  RINGSIDE_TRY(outcome.findings, findings_on(scenario, std::max(1, outcome.hosts)));
  for (const std::string& id : scenario.expect.findings) {
    if (std::ranges::find(outcome.findings, id) != outcome.findings.end()) continue;
    outcome.unmet.push_back(fmt::format(
        "expected audit to find {}, and it finds {}", id,
        outcome.findings.empty() ? "nothing"
                                 : fmt::format("{}", fmt::join(outcome.findings, ", "))));
  }
  return {};
}

}  // namespace

const char* to_string(ScenarioOutcome::End end) {
  switch (end) {
    case End::Finished:
      return "finished";
    case End::Hang:
      return "hang";
    case End::Failed:
      break;
  }
  return "failed";
}

Result<ScenarioOutcome> run_scenario(const ScenarioQuestion& question) {
  RINGSIDE_TRY(ScenarioOutcome outcome,
               question.is_real ? run_on_processes(question) : SimulatedRun(question).run());
  if (!outcome.reports) return outcome;
  if (!question.folder.empty() && !question.keeps_calls) {
    RINGSIDE_TRY(hang::Inputs left, hang::find_inputs({question.folder}));
    outcome.files = std::move(left.files);
  }
  compare(question.scenario, question.is_real, outcome);
  if (!question.is_real) {
    outcome.rate = rate_of(question.scenario, outcome);
    outcome.error = error_of(question.scenario, outcome);
  }
  if (!question.is_real) RINGSIDE_TRY(compare_findings(question.scenario, outcome));
  return outcome;
}

}  // namespace ringside::study
