#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "diag/hangdetect/readers/line_words.h"
#include "diag/hangdetect/verdict/call_names.h"
#include "diag/hangdetect/verdict/compare.h"
#include "diag/hangdetect/verdict/evidence.h"
#include "diag/hangdetect/verdict/overcome.h"
#include "diag/hangdetect/verdict/positions.h"
#include "diag/hangdetect/verdict/progress.h"
#include "diag/hangdetect/verdict/scene.h"

namespace ringside::hang {
namespace {

using facts::DeathCause;
using facts::Died;
using facts::Reporter;

Explanation not_a_hang(Feature ground) {
  Explanation out;
  out.kind = Kind::NotAHang;
  out.features = {ground};
  return out;
}

/// Adds that ranks continued after a dump or a report was written.
bool add_moved(const Scene& scene, Explanations& out) {
  const Progress progress = progress_of(scene.job);
  if (scene.logs.moved.empty() && progress.moved.empty()) return false;
  Explanation one = not_a_hang(Feature::Moved);
  one.reporter = scene.logs.moved.empty() ? Reporter::Process : Reporter::Ras;
  one.others = progress.moved;
  if (!scene.logs.moved.empty() || progress.moved.size() > 1) one.add(Feature::AllReported);
  one.what = progress.why;
  one.missing.push_back({Need::What::DumpsLater});
  out.push_back(std::move(one));
  return true;
}

/// Returns whether a call belongs to a known group, or there are no calls. If no call names its group, calls cannot be
/// distinguished from those of the helper group.
bool names_a_group(const RankView& view) {
  return view.dump->calls.empty() ||
         std::ranges::any_of(view.group_of_call, [](int group) { return group >= 0; });
}

/// Returns whether every call is recorded. Gloo's recorder stores neither sends and receives nor monitored_barrier, so
/// a rank can wait in a call that is not recorded.
bool is_all_recorded(const Job& job) {
  for (int r = 0; r < job.world(); ++r) {
    const RankDump* dump = job.rank(r).dump;
    if (dump != nullptr && !dump->calls.empty() &&
        job.signature(dump->calls.back()).backend == "gloo")
      return false;
  }
  return true;
}

/// Returns a rank whose recorder stores a call only when it has ended; -1: none.
int rank_of_completed_only(const Job& job) {
  for (int r = 0; r < job.world(); ++r) {
    const RankDump* dump = job.rank(r).dump;
    if (dump != nullptr && dump->is_completed_only) return r;
  }
  return -1;
}

/// Returns whether a rank's newest call is from a recorder that does not see completions.
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

/// Returns how many calls each rank with a dump has made, if all made as many; -1: they made different numbers, or one
/// is still pending.
std::int64_t equal_calls(const Job& job) {
  std::int64_t calls = -1;
  for (int r = 0; r < job.world(); ++r) {
    const RankDump* dump = job.rank(r).dump;
    if (dump == nullptr) continue;
    const auto own = static_cast<std::int64_t>(dump->calls.size());
    const bool are_done = std::ranges::none_of(dump->calls, &Call::is_pending);
    if (!are_done || (calls >= 0 && own != calls)) return -1;
    calls = own;
  }
  return calls;
}

/// Returns whether no group has a call in which its members differ.
bool are_calls_alike(const Job& job) {
  for (std::size_t group = 0; group < job.groups().size(); ++group) {
    if (first_difference(job, static_cast<int>(group))) return false;
  }
  return true;
}

/// Adds what supports that no rank waits: the number of calls that ended, the ranks' stacks, and lines that report the
/// program's end.
void support_idle(const Scene& scene, int dumps, Explanation& one) {
  one.total = dumps;
  one.count = equal_calls(scene.job);
  one.are_calls_alike = one.count > 0 && are_calls_alike(scene.job);
  constexpr std::size_t kMost = 8;  // places that a report lists
  for (const ProcessStack& stack : scene.logs.stacks) {
    const std::string where = position_of(stack).text;
    const auto known = std::ranges::find(one.places, where, &RanksAt::what);
    if (stack.ranks.empty()) continue;
    if (known != one.places.end()) {
      known->ranks.insert(known->ranks.end(), stack.ranks.begin(), stack.ranks.end());
      std::ranges::sort(known->ranks);
    } else if (one.places.size() < kMost) {
      one.places.push_back({stack.ranks, "", where});
    }
  }
  if (!scene.logs.run.has_finished) return;
  one.reports_end = true;
  one.evidence = scene.logs.run.shown;
}

/// Returns whether a rank's call timed out, or the ranks made no call in a second look, for longer than they usually do.
bool has_stopped(const Scene& scene) {
  if (scene.is_hang_reported()) return true;
  const bool are_reports_equal = scene.are_reports_equal();
  bool has_timed_out = false;
  bool have_all_stayed = true;
  for (int r = 0; r < scene.job.world(); ++r) {
    const RankView& view = scene.job.rank(r);
    if (view.dump == nullptr) continue;
    has_timed_out |= is_engine_timeout(view.dump->reason);
    const std::int64_t last_ns = view.dump->calls.empty() ? 0 : view.dump->calls.back().created_ns;
    have_all_stayed &= (view.has_stayed || are_reports_equal) && last_ns > 0 &&
                       view.dump->written_ns > 0 && !is_usual_pause(*view.dump, last_ns);
  }
  return has_timed_out || have_all_stayed;
}

/// Explains that few members of a group made fewer calls than the others, though no rank waits in a call: a broadcast
/// or a reduction can end on some ranks without the others, and these ranks wait outside of recorded calls.
std::optional<Explanation> explain_fewer_calls(const Scene& scene) {
  for (std::size_t group = 0; group < scene.job.groups().size(); ++group) {
    const std::vector<int>& members = scene.job.groups()[group].members;
    std::map<std::int64_t, std::vector<int>> by_calls;
    for (const int rank : members) {
      by_calls[scene.is_unseen(rank) ? -1 : scene.job.entered(rank, static_cast<int>(group))]
          .push_back(rank);
    }
    if (by_calls.size() < 2 || by_calls.begin()->first <= 0) continue;
    const auto& [most, ahead] = *by_calls.rbegin();
    if (ahead.size() * 2 < members.size()) continue;
    const auto& [least, behind] = *by_calls.begin();
    const Call* next = scene.job.find(ahead.front(), static_cast<int>(group),
                                      static_cast<std::uint32_t>(least + 1));
    if (next == nullptr) continue;
    if (!has_stopped(scene)) return std::nullopt;  // the same for all groups
    Explanation one;
    one.kind = Kind::MissingRank;
    one.features = {Feature::LeftBehind, Feature::AllReported};
    one.culprits = behind;
    one.waiting = ahead;
    one.call = call_title(scene.job, static_cast<int>(group), *next);
    one.count = most - least;
    if (behind.size() * 4 <= members.size()) one.add(Feature::FewOfMany);
    for (const int rank : {behind.front(), ahead.front()}) {
      const Call* last =
          scene.job.find(rank, static_cast<int>(group),
                         static_cast<std::uint32_t>(rank == behind.front() ? least : most));
      if (last == nullptr) continue;
      const std::string title = call_title(scene.job, static_cast<int>(group), *last);
      one.places.push_back({{rank}, "", "last call: " + title});
      one.evidence.push_back(evidence_of(scene.job, rank, *last, "last call: " + title));
    }
    one.missing.push_back({Need::What::Stacks, behind});
    return one;
  }
  return std::nullopt;
}

/// Adds that there are dumps, and that no rank waits according to them.
bool add_idle_dumps(const Scene& scene, Explanations& out) {
  int dumps = 0;
  int mixed = 0;
  int ras = 0;
  for (int r = 0; r < scene.job.world(); ++r) {
    const RankView& view = scene.job.rank(r);
    if (view.dump == nullptr) continue;
    ++dumps;
    ras += view.dump->version == "ras" ? 1 : 0;
    mixed += names_a_group(view) ? 0 : 1;
  }
  if (dumps == 0 || (!scene.has_dumps && scene.logs.run.waits > 0 && mixed < dumps)) return false;
  Explanation one;
  if (mixed == dumps || ras == dumps) {
    // Either no call names its group (TORCH_DISTRIBUTED_DEBUG=DETAIL wraps the groups), or ncclras counts launches
    // rather than ends.
    one.features = {Feature::NothingShown};
    one.shown = mixed == dumps ? Shown::MixedCalls : Shown::LaunchesAlone;
    if (mixed < dumps) one.missing.push_back({Need::What::RasTwice});
    one.missing.push_back({mixed == dumps ? Need::What::Logs : Need::What::Stacks});
  } else if (const int rank = rank_of_completed_only(scene.job); rank >= 0) {
    one.features = {Feature::NothingShown};
    one.shown = Shown::EndsAlone;
    one.others = {rank};
    const RankView& view = scene.job.rank(rank);
    if (!view.dump->calls.empty() && view.group_of_call.back() >= 0)
      one.call = call_title(scene.job, view.group_of_call.back(), view.dump->calls.back());
    one.missing = {{Need::What::Dumps}, {Need::What::Stacks}};
  } else if (is_any_call_issued(scene.job)) {
    one.features = {Feature::NothingShown};
    one.shown = Shown::IssuesAlone;
    one.missing.push_back({Need::What::Stacks});
  } else {
    one = not_a_hang(Feature::NothingPending);
    support_idle(scene, dumps, one);
    if (dumps == scene.job.world()) one.add(Feature::AllReported);
    if (!is_all_recorded(scene.job)) {
      one.add(Feature::Doubtful);
      one.missing.push_back({Need::What::Stacks});
    }
  }
  out.push_back(std::move(one));
  return true;
}

/// Compares the last step of each rank; a few ranks may be at an earlier step.
void add_steps_apart(const Scene& scene, Explanations& out) {
  const RunNotes& run = scene.logs.run;
  std::map<std::int64_t, std::vector<int>> at;
  for (const auto& [rank, step] : run.step_of) {
    if (rank >= 0) at[step].push_back(rank);
  }
  if (run.has_moved || at.size() != 2) return;
  const auto& [early, few] = *at.begin();
  const auto& [late, most] = *at.rbegin();
  if (few.size() * 2 >= most.size()) return;
  Explanation one;
  one.kind = Kind::MissingRank;
  one.features = {Feature::LastLinesDiffer, Feature::Doubtful};
  // Ranks of a running job can be one step apart, and print at different times.
  (late - early > 1 ? one.culprits : one.suspects) = few;
  if (late - early <= 1) one.add(Feature::OneCall);
  one.others = most;
  one.shown = Shown::Steps;
  one.count = early;
  one.total = late;
  one.missing.push_back({Need::What::StacksLater, few});
  out.push_back(std::move(one));
}

/// Returns whether a call failed after the job's end although its watchdog had not timed out: no rank had waited as
/// long as the timeout.
bool has_live_watchdog(const Scene& scene, const Died& end) {
  constexpr std::uint64_t kFewest = 3;  // steps, so that the job had trained and not only begun
  return scene.logs.run.steps >= kFewest && scene.logs.run.waits == 0 &&
         std::ranges::any_of(scene.logs.statements, [&](const LogStatement& one) {
           return one.file == end.source.file && one.line > end.source.line &&
                  one.text.find("WorkNCCL(") != std::string::npos &&
                  one.text.find("Timeout(ms)=") != std::string::npos;
         });
}

const Died* cancellation(const Scene& scene) {
  const auto found = std::ranges::find_if(
      scene.facts.deaths, [](const Died& one) { return one.cause == DeathCause::Cancelled; });
  return found == scene.facts.deaths.end() ? nullptr : &*found;
}

void describe_steps(const RunNotes& run, Explanation& one) {
  one.count = run.last_step;
  one.total = run.steps_of;
}

/// Adds that the scheduler ended a job that made steps until its end.
void add_cancelled(const Scene& scene, Explanations& out) {
  const Died* end = cancellation(scene);
  if (end == nullptr) return;
  const RunNotes& run = scene.logs.run;
  Explanation one;
  const std::int64_t quiet =
      end->time_us == 0 || run.last_step_us == 0 ? -1 : end->time_us - run.last_step_us;
  // Chosen: the step that was running at the end may be a little longer than the longest one before.
  constexpr std::int64_t kSteps = 2;
  const bool is_soon =
      quiet >= 0 && run.longest_step_us > 0 && quiet <= kSteps * run.longest_step_us;
  // A preemption is unrelated to the state of the job.
  const bool is_preempted = end->reason.find("PREEMPT") != std::string::npos;
  if (run.has_moved && scene.logs.timeouts == 0 &&
      (is_preempted || has_live_watchdog(scene, *end) || is_soon)) {
    one = not_a_hang(Feature::EndedFromOutside);
    if (is_soon) one.add(Feature::AllReported);
    one.missing.push_back({Need::What::StepTimes});
  } else {
    one.features = {Feature::NothingShown, Feature::AllReported};
    std::set_difference(run.ranks.begin(), run.ranks.end(), run.at_last_step.begin(),
                        run.at_last_step.end(), std::back_inserter(one.others));
    if (run.at_last_step.empty()) one.others.clear();
    one.missing.push_back({Need::What::Stacks});
  }
  one.reporter = end->reporter;
  one.where = end->reason;
  one.shown = Shown::Cancelled;
  one.evidence.push_back(evidence_of(end->source));
  describe_steps(run, one);
  out.push_back(std::move(one));
}

/// Returns whether there is trouble other than ended connections and failures that audit judges.
bool is_trouble_stated(const facts::Facts& facts) {
  return !facts.deaths.empty() || !facts.members.empty() || !facts.mismatches.empty() ||
         std::ranges::any_of(facts.link_faults, [](const facts::LinkFault& one) {
           return one.state != facts::LinkState::Closed;
         });
}

bool has_only(const Scene& scene, auto is_allowed) {
  return std::ranges::all_of(scene.logs.statements, is_allowed) && !is_trouble_stated(scene.facts);
}

/// Returns whether there are only ended connections and failures that audit judges: every job whose ranks do not leave
/// at once ends with these.
bool may_be_well(const Scene& scene) {
  const bool are_failures = has_only(
      scene, [](const LogStatement& one) { return one.what == LogStatement::What::Failure; });
  const bool are_partings = has_only(scene, [](const LogStatement& one) {
    return one.what == LogStatement::What::StoreLost || one.what == LogStatement::What::PeerLost ||
           one.what == LogStatement::What::Failure;
  });
  if (is_trouble_stated(scene.facts)) return false;
  return scene.logs.statements.empty() || (are_failures && scene.logs.run.has_finished) ||
         (are_partings && scene.logs.run.has_ended);
}

/// An engine that logs once or twice that it waits for a block of its workers may be warming up; one that logs it
/// repeatedly waits forever.
constexpr std::uint64_t kManyServerWaits = 3;

/// Adds that the program's own lines show progress.
void add_well(const Scene& scene, Explanations& out) {
  const RunNotes& run = scene.logs.run;
  if (!may_be_well(scene) || run.server_waits >= kManyServerWaits) return;
  if (scene.logs.is_ras_healthy) {
    out.push_back(not_a_hang(Feature::ReportIsHealthy));
    out.back().reporter = Reporter::Ras;
    out.back().total = scene.logs.known_world;
    out.back().missing.push_back({Need::What::RasTwice});
    return;
  }
  if (scene.logs.timeouts > 0 || run.waits > 0) return;
  const auto add = [&](Feature ground, bool needs_more) {
    out.push_back(not_a_hang(ground));
    out.back().evidence = run.shown;
    describe_steps(run, out.back());
    if (needs_more) out.back().missing.push_back({Need::What::StepTimes});
  };
  // A person may take a pause, a slow start or a warning for a hang, although steps follow. Chosen: steps of one job differ
  // by less than this factor.
  constexpr std::int64_t kManyTimes = 5;
  const bool has_paused = run.shortest_step_us > 0 && run.steps_after_pause > 0 &&
                          run.longest_step_us > kManyTimes * run.shortest_step_us;
  const bool is_warned = run.slow_starts > 0 || run.harmless > 0 || run.have_calls_ended;
  if (run.has_moved && run.alarming_since_step == 0 && (has_paused || is_warned)) {
    add(Feature::StepsWentOn, true);
    if (has_paused) out.back().pause_s = run.longest_step_us / 1'000'000;
    return;
  }
  // A line about the end of a connection may have been split into this many pieces.
  constexpr std::uint64_t kPieces = 4;
  const std::uint64_t calm =
      run.finished + run.harmless + run.steps + kPieces * scene.logs.statements.size();
  if (run.alarming > calm) return;
  if (run.has_finished) {
    add(Feature::Finished, false);
    if (run.alarming > 0) out.back().add(Feature::Alarms);
    return;
  }
  if (run.alarming > run.questions) return;
  constexpr std::uint64_t kFewest = 3;  // steps: the first two of a job that hangs look alike
  if (run.harmless > 0 && run.questions == 0) {
    add(Feature::OnlyHarmless, false);
  } else if (run.steps >= kFewest && run.has_moved) {
    add(Feature::OnlySteps, true);
  }
}

/// Adds failures that audit judges, if there is no line about a wait.
void add_failures(const Scene& scene, Explanations& out) {
  if (scene.facts.warnings.empty() || scene.is_hang_reported()) return;
  const auto raised = std::ranges::find_if(scene.facts.warnings, [](const facts::Warning& one) {
    return one.severity == facts::Severity::Error;
  });
  const bool has_raised = raised != scene.facts.warnings.end();
  const facts::Warning& first = has_raised ? *raised : scene.facts.warnings.front();
  Explanation one;
  if (has_raised) {
    // A call that fails in this way may be the cause, or a consequence of another process's end.
    one.features = {Feature::NothingShown, Feature::AllReported};
    for (const facts::Warning& warning : scene.facts.warnings) {
      if (warning.severity == facts::Severity::Error && warning.subject.is_known())
        one.others.push_back(warning.subject.rank);
    }
    std::sort(one.others.begin(), one.others.end());
    one.others.erase(std::unique(one.others.begin(), one.others.end()), one.others.end());
  } else if (has_only(scene, [](const LogStatement& statement) {
               return statement.what == LogStatement::What::Failure;
             })) {
    one = not_a_hang(Feature::FailedAtOnce);
  } else {
    return;
  }
  one.what = first.meaning;
  one.shown = Shown::RaisedError;
  one.evidence.push_back(evidence_of(first.source));
  out.push_back(std::move(one));
}

/// Returns the ranks that report a wait whose peers are unknown.
std::vector<int> ranks_of_open_waits(const Scene& scene) {
  std::vector<int> ranks;
  for (const auto& [rank, notes] : scene.logs.notes) {
    if (rank >= 0 && (notes.is_waiting || (notes.has_failed && !notes.has_lost_peer)))
      ranks.push_back(rank);
  }
  return ranks;
}

/// Returns what the sources show if they show no cause.
Explanation explain_nothing_shown(const Scene& scene) {
  Explanation out;
  out.features = {Feature::NothingShown};
  out.waiting = ranks_of_open_waits(scene);
  const RunNotes& run = scene.logs.run;
  for (const GroupWait& one : scene.logs.group_waits) {
    if (out.places.size() < 4) out.places.push_back({{one.place}, one.group, one.call});
  }
  if (!out.waiting.empty() || scene.logs.timeouts > 0 || !out.places.empty()) {
    out.shown = Shown::TimedOut;
  } else if (!scene.logs.stacks.empty()) {
    out.shown = Shown::Stacks;
    std::int64_t count = 0;
    for (const ProcessStack& stack : scene.logs.stacks) {
      count += stack.count;
      if (out.places.size() < 8) out.places.push_back({stack.ranks, stack.who(), stack.place()});
      if (out.evidence.size() < 6)
        out.evidence.push_back({stack.file, -1, stack.line, stack.text()});
    }
    out.count = count;
    out.total = scene.logs.known_world > 0 ? scene.logs.known_world : -1;
    out.stack = scene.logs.stacks.front().frames;
  } else if (run.server_waits >= kManyServerWaits) {
    out.shown = Shown::ServerWaits;
    out.count = static_cast<std::int64_t>(run.server_waits);
    out.evidence = run.shown;
  } else if (run.waits > 0) {
    out.shown = Shown::WatchdogLines;
  } else if (run.alarming > 0) {
    out.shown = Shown::Alarms;
    out.count = static_cast<std::int64_t>(run.alarming);
  } else {
    out.shown = scene.logs.is_of_job || scene.logs.lines == 0 ? Shown::Nothing : Shown::NoJob;
  }
  const FactList<facts::Busy> stuck = facts_where(
      scene.facts.busy, [](const facts::Busy& one) { return one.reporter == Reporter::Watchdog; });
  if (!stuck.empty() && out.shown != Shown::Stacks) {
    out.shown = run.finished > 0 ? Shown::WatchdogAtEnd : Shown::WatchdogStuck;
    out.waiting = ranks_of(stuck);
    for (const facts::Busy* one : stuck) {
      if (out.evidence.size() < 6) out.evidence.push_back(evidence_of(one->source));
    }
    out.evidence.insert(out.evidence.end(), run.shown.begin(), run.shown.end());
  }
  out.missing.push_back({Need::What::Dumps});
  if (scene.logs.stacks.empty()) out.missing.push_back({Need::What::Stacks});
  return out;
}

}  // namespace

void add_quiet(const Scene& scene, Explanations& out) {
  const bool has_moved = add_moved(scene, out);
  if (has_moved || scene.is_blocked_anywhere()) return;
  if (!scene.has_dumps) {
    if (auto one = went_on(scene.logs.facts, scene.facts)) out.push_back(*std::move(one));
  }
  if (auto one = scene.has_dumps ? explain_fewer_calls(scene) : std::nullopt) {
    out.push_back(*std::move(one));
    return;
  }
  const bool has_idle_dumps = add_idle_dumps(scene, out);
  if (has_idle_dumps) return;
  add_well(scene, out);
  add_cancelled(scene, out);
  add_steps_apart(scene, out);
  add_failures(scene, out);
  out.push_back(explain_nothing_shown(scene));
}

}  // namespace ringside::hang
