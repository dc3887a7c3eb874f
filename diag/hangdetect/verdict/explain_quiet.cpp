#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "diag/hangdetect/verdict/confidence.h"
#include "diag/hangdetect/verdict/explain.h"
#include "diag/hangdetect/verdict/told.h"

namespace ringside::hang {

using What = LogStatement::What;

namespace {

/// Calls that belong to no named group cannot be told apart from their helper group's.
bool is_aligned(const RankView& view) {
  return view.dump->calls.empty() ||
         std::any_of(view.group_of_call.begin(), view.group_of_call.end(),
                     [](int group) { return group >= 0; });
}

/// Gloo's recorder keeps neither sends and receives nor monitored_barrier: a rank can wait in what it has not
/// seen.
bool is_all_recorded(const Job& job) {
  for (int r = 0; r < job.world(); ++r) {
    const RankDump* dump = job.rank(r).dump;
    if (dump != nullptr && !dump->calls.empty() &&
        job.signature(dump->calls.back()).backend == "gloo") {
      return false;
    }
  }
  return true;
}

/// The first rank's dump whose recorder does not note a call before it has ended.
const RankDump* completed_only(const Job& job) {
  for (int r = 0; r < job.world(); ++r) {
    const RankDump* dump = job.rank(r).dump;
    if (dump != nullptr && dump->is_completed_only) return dump;
  }
  return nullptr;
}

/// Whether a rank's newest call is of a recorder that is not told of completions.
bool is_any_call_issued(const Job& job) {
  for (int r = 0; r < job.world(); ++r) {
    const RankView& view = job.rank(r);
    if (view.dump == nullptr) continue;
    for (std::size_t i = view.group_of_call.size(); i-- > 0;) {
      if (view.group_of_call[i] < 0) continue;
      if (view.dump->calls[i].state == CallState::Issued) return true;
      break;
    }
  }
  return false;
}

const LogStatement* first_of(const LogFacts& facts, What what) {
  const auto found = std::find_if(facts.statements.begin(), facts.statements.end(),
                                  [&](const LogStatement& one) { return one.what == what; });
  return found == facts.statements.end() ? nullptr : &*found;
}

/// `step 812 of 1000`
std::string step_text(const RunNotes& run) {
  std::string text = fmt::format("step {}", run.last_step);
  if (run.steps_of > 0) text += fmt::format(" of {}", run.steps_of);
  return text;
}

/// Of ranks that tell of steps: those that do not tell of the last one. They may have done it in silence.
std::vector<int> not_at_last_step(const RunNotes& run) {
  std::vector<int> away;
  std::set_difference(run.ranks.begin(), run.ranks.end(), run.at_last_step.begin(),
                      run.at_last_step.end(), std::back_inserter(away));
  return away;
}

/// An engine that says once or twice that it waits for a block of its workers' may be warming up; one that says it again
/// and again waits for ever.
constexpr std::uint64_t kManyServerWaits = 3;

/// Lines of failures that audit judges, and no other statement.
bool has_failures_alone(const LogFacts& facts) {
  return !facts.statements.empty() &&
         std::all_of(facts.statements.begin(), facts.statements.end(),
                     [](const LogStatement& one) { return one.what == What::Failure; });
}

/// Lines of connections that ended, beside those: what every job ends with if its ranks do not leave at once.
bool has_partings_alone(const LogFacts& facts) {
  return std::all_of(facts.statements.begin(), facts.statements.end(), [](const LogStatement& one) {
    return one.what == What::StoreLost || one.what == What::PeerLost || one.what == What::Failure;
  });
}

/// The job failed, and nobody waits: no hang. What failed, audit says.
Explanation failed(const LogFacts& facts) {
  Explanation out;
  out.kind = Kind::NotAHang;
  out.confidence = confidence::kFailure;
  const LogStatement& first = facts.statements.front();
  out.why = fmt::format(
      "no line tells of a hang; the library reports a failure: {}. `ringside audit` says what "
      "follows from it",
      first.detail);
  out.evidence.push_back(evidence_of(first));
  return out;
}

/// The last line of each rank, and few of them are of an earlier step.
std::optional<Explanation> steps_apart(const RunNotes& run) {
  std::map<std::int64_t, std::vector<int>> at;
  for (const auto& [rank, step] : run.step_of) {
    if (rank >= 0) at[step].push_back(rank);
  }
  if (run.has_moved || at.size() != 2) return std::nullopt;
  const auto& [early, few] = *at.begin();
  const auto& [late, most] = *at.rbegin();
  if (few.size() * 2 >= most.size()) return std::nullopt;
  Explanation out;
  out.kind = Kind::MissingRank;
  // Ranks of a job that moves are one step apart at times, and print at different times.
  if (late - early > 1) out.culprits = few;
  out.confidence = late - early > 1 ? confidence::kRasOneBehind : confidence::kConsequence;
  out.why = fmt::format("{} {} step {} last, and {} of step {}", ranks_text(few),
                        few.size() == 1 ? "tells of" : "tell of", early, ranks_text(most), late);
  out.missing.push_back("the same lines a minute later, and the stacks of " + ranks_text(few));
  return out;
}

/// A call failed after the job's end whose watchdog had not found it late: nobody had waited for as long as that allows.
bool has_live_watchdog(const LogFacts& facts, const LogStatement& end) {
  constexpr std::uint64_t kFewest = 3;
  return facts.run.steps >= kFewest && facts.run.waits == 0 &&
         std::any_of(facts.statements.begin(), facts.statements.end(),
                     [&](const LogStatement& one) {
                       return one.file == end.file && one.line > end.line &&
                              one.text.find("WorkNCCL(") != std::string::npos &&
                              one.text.find("Timeout(ms)=") != std::string::npos;
                     });
}

/// The scheduler ended a job that did its steps to the end.
std::optional<Explanation> ran_to_the_limit(const LogFacts& facts) {
  const LogStatement* end = first_of(facts, What::Cancelled);
  const RunNotes& run = facts.run;
  if (end == nullptr || !run.has_moved || facts.timeouts > 0) return std::nullopt;
  if (end->detail.find("PREEMPT") != std::string::npos) {
    // Who else wants the nodes has nothing to do with what the job did.
    Explanation out;
    out.kind = Kind::NotAHang;
    out.confidence = confidence::kSteps;
    out.why = fmt::format("the job did its steps, up to {}, when the scheduler took its nodes: {}",
                          step_text(run), end->detail);
    out.evidence.push_back(evidence_of(*end));
    out.missing.push_back("the times of its last steps: whether it stood before");
    return out;
  }
  if (has_live_watchdog(facts, *end)) {
    Explanation out;
    out.kind = Kind::NotAHang;
    out.confidence = confidence::kSteps;
    out.why = fmt::format(
        "the job did its steps, up to {}, when the scheduler ended it{}{}; a call that was in "
        "flight "
        "then had not timed out, and its failure follows from that end",
        step_text(run), end->detail.empty() ? "" : ": ", end->detail);
    out.evidence.push_back(evidence_of(*end));
    out.missing.push_back("the times of its last steps: whether it stood before");
    return out;
  }
  if (end->time_us == 0 || run.last_step_us == 0) return std::nullopt;
  const std::int64_t quiet = end->time_us - run.last_step_us;
  if (facts.timeouts > 0 || run.longest_step_us == 0 || quiet < 0 ||
      quiet > 2 * run.longest_step_us)
    return std::nullopt;
  Explanation out;
  out.kind = Kind::NotAHang;
  out.confidence = confidence::kFinished - 0.2;
  out.why = fmt::format(
      "the job did its steps until {} s before the scheduler ended it{}{}: nothing stood; the last "
      "step is {}",
      quiet / 1'000'000, end->detail.empty() ? "" : ": ", end->detail, step_text(run));
  out.evidence.push_back(evidence_of(*end));
  return out;
}

/// Somebody took a pause, a slow start or a warning for a hang, and steps follow it.
std::optional<Explanation> went_on(const LogFacts& facts) {
  const RunNotes& run = facts.run;
  if (facts.timeouts > 0 || run.waits > 0 || !run.has_moved || run.alarming_since_step > 0)
    return std::nullopt;
  constexpr std::int64_t kManyTimes = 5;
  const bool has_paused = run.shortest_step_us > 0 && run.steps_after_pause > 0 &&
                          run.longest_step_us > kManyTimes * run.shortest_step_us;
  const bool is_warned = run.slow_starts > 0 || run.harmless > 0;
  if (!has_paused && !is_warned) return std::nullopt;
  Explanation out;
  out.kind = Kind::NotAHang;
  out.confidence = confidence::kWentOn;
  out.why = has_paused ? fmt::format(
                             "a pause of {} s between two steps, and steps follow it: the "
                             "job went on; the last step is {}",
                             run.longest_step_us / 1'000'000, step_text(run))
                       : fmt::format(
                             "steps are done beside what looks alarming, which jobs that run "
                             "well say too; the last one is {}",
                             step_text(run));
  out.evidence = run.shown;
  out.missing.push_back("if it stands now: the stacks of all ranks (py-spy dump)");
  return out;
}

/// The program says itself that it is well.
std::optional<Explanation> healthy(const LogFacts& facts) {
  const RunNotes& run = facts.run;
  if (run.server_waits >= kManyServerWaits) return std::nullopt;
  Explanation out;
  out.kind = Kind::NotAHang;
  out.evidence = run.shown;
  if (facts.is_ras_healthy) {
    out.confidence = confidence::kHealthyReport;
    out.why = fmt::format(
        "ncclras finds every communicator OK: all ranks answer ({} of them) and have launched as "
        "many operations",
        facts.known_world);
    out.missing.push_back(
        "if the job seems to stand: a second report 15 s later; counts that are equal and do not "
        "grow mean that "
        "all are inside one call");
    return out;
  }
  if (auto moved = went_on(facts)) return moved;
  // A line of a connection's end may have been broken into several.
  constexpr std::uint64_t kPieces = 4;
  const std::uint64_t calm =
      run.finished + run.harmless + run.steps + kPieces * facts.statements.size();
  if (facts.timeouts > 0 || run.waits > 0 || run.alarming > calm) return std::nullopt;
  if (run.has_finished) {
    out.confidence = run.alarming == 0 ? confidence::kFinished : confidence::kFinished - 0.2;
    out.why = fmt::format(
        "the program tells that it has come to its end, or serves ({} line{}){}", run.finished,
        run.finished == 1 ? "" : "s",
        run.harmless > 0 ? "; the warnings before it are of jobs that run well too" : "");
    return out;
  }
  if (run.alarming > 0) return std::nullopt;
  if (run.harmless > 0) {
    out.confidence = confidence::kHarmless;
    out.why = fmt::format(
        "the {} warning{} here {} given by jobs that run and end well too, and nothing else tells "
        "of a hang",
        run.harmless, run.harmless == 1 ? "" : "s", run.harmless == 1 ? "is" : "are");
    return out;
  }
  constexpr std::uint64_t kFewest = 3;
  if (run.steps >= kFewest && run.has_moved) {
    out.confidence = confidence::kSteps;
    out.why =
        fmt::format("the job does one step after another, up to {}, and nothing tells of a hang",
                    step_text(run));
    out.missing.push_back(
        "the time now: if its last line is old, the stacks of all ranks (py-spy dump)");
    return out;
  }
  return std::nullopt;
}

/// A call of the library's failed and raised an exception: who fails so may be the cause, or have met the end of
/// another.
Explanation raised(const LogFacts& facts, const LogStatement& first) {
  Explanation out;
  out.confidence = 0.3;
  std::vector<int> ranks;
  for (const LogStatement& one : facts.statements) {
    if (one.what != What::Failure || one.code != kRaised) continue;
    ranks.insert(ranks.end(), one.ranks.begin(), one.ranks.end());
    if (out.evidence.size() < 6) out.evidence.push_back(evidence_of(one));
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  out.why = fmt::format(
      "a call of the library's failed{}: {}; no line tells of a wait, nor who failed first. "
      "`ringside audit` says what follows from it",
      ranks.empty() ? "" : " on " + ranks_text(ranks), first.detail);
  out.missing.push_back("NCCL_DEBUG=INFO of all ranks: the first WARN line in time");
  return out;
}

/// Of CPU groups: ranks whose operation timed out or broke, and no line names the other end.
std::vector<int> failed_waits(const LogFacts& facts) {
  std::vector<int> ranks;
  for (const auto& [rank, notes] : facts.notes) {
    if (notes.has_failed && !notes.has_lost_peer && rank >= 0) ranks.push_back(rank);
  }
  return ranks;
}

/// `ranks 0,2 of group TENSOR_MODEL_PARALLEL_GROUP (1) timed out in all_reduce 40112`
Explanation of_places(const LogFacts& facts) {
  Explanation out;
  out.confidence = 0.3;
  std::map<std::pair<std::string, std::string>, std::vector<int>> places;
  for (const GroupWait& one : facts.group_waits) places[{one.group, one.call}].push_back(one.place);
  constexpr std::size_t kShown = 4;
  for (auto& [what, ranks] : places) {
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    const std::string text =
        fmt::format("{} of group {} timed out in {}", ranks_text(ranks), what.first, what.second);
    if (out.why.empty()) out.why = text;
    if (places.size() > 1 && out.details.size() < kShown) out.details.push_back(text);
  }
  out.why += "; which ranks of the job these are, and who else is in the group, no line says";
  out.missing.push_back("the `[rank..]:` before these lines, which is the global one");
  return out;
}

/// What the lines do show, where they show no cause.
Explanation told(const LogFacts& facts) {
  Explanation out;
  out.confidence = confidence::kNothing;
  const RunNotes& run = facts.run;
  if (const LogStatement* end = first_of(facts, What::Cancelled)) {
    out.confidence = 0.3;
    out.why =
        end->code == kLauncherSignalled
            ? "a signal from outside ended the launcher: the scheduler's, a preemption's or a "
              "person's; connections that end then follow from it"
            : fmt::format("the scheduler ended the job{}{}", end->detail.empty() ? "" : ": ",
                          end->detail);
    out.evidence.push_back(evidence_of(*end));
    if (run.last_step >= 0) {
      const std::vector<int> away = not_at_last_step(run);
      out.why += fmt::format("; the last step that a line tells of is {}", step_text(run));
      if (!away.empty() && !run.at_last_step.empty()) {
        out.details.push_back(
            fmt::format("{} of {} ranks tell of that step; {} do not, which may only mean that "
                        "they print later",
                        run.at_last_step.size(), run.ranks.size(), ranks_text(away)));
      }
    }
    return out;
  }
  if (const LogStatement* stuck = first_of(facts, What::WatchdogStuck)) {
    out.confidence = 0.3;
    std::vector<int> ranks;
    for (const LogStatement& one : facts.statements) {
      if (one.what == What::WatchdogStuck)
        ranks.insert(ranks.end(), one.ranks.begin(), one.ranks.end());
    }
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    out.why =
        fmt::format("the watchdog of {} stands still, and no collective is told to be pending",
                    ranks.empty() ? "a rank" : ranks_text(ranks));
    if (run.finished > 0)
      out.why += ": the program had come to its end, so it is the release of the groups that hangs";
    out.evidence.push_back(evidence_of(*stuck));
    out.evidence.insert(out.evidence.end(), run.shown.begin(), run.shown.end());
    return out;
  }
  std::vector<int> waiting;
  for (const auto& [rank, notes] : facts.notes) {
    if (notes.is_waiting) waiting.push_back(rank);
  }
  if (waiting.empty() && !facts.group_waits.empty()) return of_places(facts);
  if (!waiting.empty() || facts.timeouts > 0) {
    out.confidence = 0.3;
    out.why = fmt::format(
        "{} timed out in a collective, and nothing here tells with whom: up to PyTorch 2.4 the "
        "line leaves the group open",
        waiting.empty() ? "ranks" : ranks_text(waiting));
    return out;
  }
  if (!facts.stacks.empty()) {
    const ProcessStack& one = facts.stacks.front();
    out.confidence = 0.2;
    int count = 0;
    std::string who;
    for (const ProcessStack& stack : facts.stacks) {
      count += stack.count;
      constexpr std::size_t kLong = 400;
      if (who.size() < kLong)
        who += fmt::format("{}{} {} ({})", who.empty() ? "" : "; ", stack.who(),
                           to_string(stack.doing), stack.place());
    }
    if (count > 1) who = fmt::format("of {} processes none waits for another: {}", count, who);
    const bool are_all = facts.known_world > 0 && count >= facts.known_world;
    out.why = who + (are_all     ? "; these are all ranks of the job"
                     : count > 1 ? "; if the job has more ranks, their stacks are not here"
                                 : "; the stacks of the others are not here");
    for (const ProcessStack& stack : facts.stacks) {
      if (out.evidence.size() < 6)
        out.evidence.push_back(
            {stack.file, -1, stack.line, fmt::format("{} {}", stack.who(), stack.place())});
    }
    out.stack = one.frames;
    return out;
  }
  if (run.server_waits >= kManyServerWaits) {
    out.confidence = 0.3;
    out.why = fmt::format(
        "a server's engine says {} times that it waits for its workers: one of them hangs, or does "
        "not come to read; no line says which",
        run.server_waits);
    out.evidence = run.shown;
    out.missing.push_back("py-spy dump of each worker process (VLLM::Worker_TP*)");
    return out;
  }
  if (const std::vector<int> ranks = failed_waits(facts); !ranks.empty()) {
    out.confidence = 0.3;
    out.why = fmt::format(
        "{} waited in vain in an operation of a CPU group (Gloo); the line names no other end, and "
        "whoever did not come prints nothing here",
        ranks_text(ranks));
    return out;
  }
  for (const LogStatement& one : facts.statements) {
    if (one.what == What::Failure && one.code == kRaised) return raised(facts, one);
  }
  if (has_failures_alone(facts)) return failed(facts);
  if (run.waits > 0) {
    out.confidence = 0.2;
    out.why =
        "a watchdog tells that calls failed or timed out; of which call, and of which other ranks, "
        "no line here says";
    return out;
  }
  if (run.alarming > 0) {
    out.confidence = 0.2;
    out.why = fmt::format(
        "{} {} of an error or a wait in words that are not known here, and no line says which "
        "collective stands",
        run.alarming, run.alarming == 1 ? "line tells" : "lines tell");
    return out;
  }
  out.why =
      facts.is_of_job || facts.lines == 0
          ? "there is neither a dump nor a line that tells of a hang"
          : "no line here is of a job of several processes: nothing tells of a hang, nor that "
            "all is well";
  return out;
}

/// There are dumps, and nobody stands in them.
Explanation of_dumps(const Job& job, int dumps, int ras) {
  Explanation out;
  if (ras == dumps) {
    out.confidence = 0.3;
    out.why =
        "all ranks have launched the same calls by ncclras: the job is idle, or all are inside one "
        "call that does not end; it counts launches, not ends";
    out.missing.push_back("Flight Recorder dumps, stacks, and two more reports some seconds later");
    return out;
  }
  if (const RankDump* dump = completed_only(job)) {
    out.confidence = 0.3;
    out.why =
        "the recorder notes calls when they have ended, so nothing here states where a rank waits";
    if (!dump->calls.empty()) {
      const RankView& view = job.rank(dump->rank);
      const std::size_t last = dump->calls.size() - 1;
      if (view.group_of_call[last] >= 0)
        out.why += fmt::format("; the last call that rank {} ended is {}", dump->rank,
                               call_title(job, view.group_of_call[last], dump->calls[last]));
    }
    out.missing.push_back(
        "Flight Recorder dumps (TORCH_FR_BUFFER_SIZE=2000), or stacks of all ranks");
    return out;
  }
  if (is_any_call_issued(job)) {
    out.confidence = 0.3;
    out.why =
        "all ranks have issued the same calls; their recorder notes a call when it is issued, so "
        "nothing here states whether the last one ended";
    out.missing.push_back("stacks of all ranks (py-spy dump): do they wait in that call?");
    return out;
  }
  out.kind = Kind::NotAHang;
  out.confidence = dumps == job.world() ? 0.8 : 0.65;
  out.why = "no rank waits in a call that its recorder has seen";
  if (!is_all_recorded(job)) {
    out.confidence = std::min(out.confidence, 0.75);
    out.missing.push_back(
        "stacks (py-spy dump): Gloo's recorder leaves out transfers and barriers");
  }
  return out;
}

}  // namespace

Explanation explain_quiet(const Scene& scene, const LogFacts& facts) {
  const Job& job = scene.job;
  int dumps = 0;
  int mixed = 0;
  int ras = 0;
  for (int r = 0; r < job.world(); ++r) {
    if (job.rank(r).dump == nullptr) continue;
    ++dumps;
    ras += job.rank(r).dump->version == "ras" ? 1 : 0;
    mixed += is_aligned(job.rank(r)) ? 0 : 1;
  }
  if (dumps > 0 && mixed == dumps) {
    Explanation out;
    out.confidence = confidence::kNothing;
    out.why =
        "no call in these dumps names its group (TORCH_DISTRIBUTED_DEBUG=DETAIL wraps "
        "them): sequences cannot be told apart";
    out.missing.push_back("the ranks' logs: that mode prints what it found");
    return out;
  }
  if (dumps > 0 && (has_dumps(job) || facts.run.waits == 0)) return of_dumps(job, dumps, ras);
  Explanation out;
  const bool may_be_well = facts.statements.empty() ||
                           (has_failures_alone(facts) && facts.run.has_finished) ||
                           (has_partings_alone(facts) && facts.run.has_ended);
  std::optional<Explanation> well = may_be_well ? healthy(facts) : std::nullopt;
  if (!well) well = ran_to_the_limit(facts);
  if (!well) well = steps_apart(facts.run);
  out = well ? *std::move(well) : told(facts);
  if (out.kind != Kind::NotAHang) {
    out.missing.push_back("Flight Recorder dumps (TORCH_FR_BUFFER_SIZE=2000), or the ranks' logs");
    if (facts.stacks.empty()) out.missing.push_back("stacks of all ranks (py-spy dump --pid ...)");
  }
  return out;
}

}  // namespace ringside::hang
