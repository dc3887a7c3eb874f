#include "diag/hangdetect/verdict/decide.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "diag/hangdetect/model/blocks.h"
#include "diag/hangdetect/verdict/call_names.h"
#include "diag/hangdetect/verdict/connections.h"
#include "diag/hangdetect/verdict/positions.h"
#include "diag/hangdetect/verdict/progress.h"
#include "diag/hangdetect/verdict/scene.h"
#include "diag/hangdetect/verdict/stated_facts.h"

namespace ringside::hang {
namespace {

using What = LogStatement::What;

/// Returns the ranks whose log shows a call that has not ended, or a watchdog's timeout in an unknown call.
std::set<int> ranks_that_timed_out(const LogFacts& logs) {
  std::set<int> ranks;
  for (const RankDump& dump : logs.dumps) {
    const bool waits =
        std::ranges::any_of(dump.calls, [](const Call& call) { return call.is_pending(); });
    if (waits) ranks.insert(dump.rank);
  }
  for (const auto& [rank, notes] : logs.notes) {
    if (notes.is_waiting) ranks.insert(rank);
  }
  return ranks;
}

/// The sort of evidence on which a ground is based; two grounds of one sort are based on the same observation. The grounds
/// of a sort are adjacent in weights.def, whose comments name the sorts: a last row of a sort ends it here.
enum class Sort { Calls, Statements, Positions, Quiet };

Sort sort_of(Feature ground) {
  if (ground <= Feature::UnclearWait) return Sort::Calls;
  if (ground <= Feature::PersonSays) return Sort::Statements;
  return ground <= Feature::StacksApart ? Sort::Positions : Sort::Quiet;
}

bool is_mismatch(Kind kind) {
  return kind == Kind::OpMismatch || kind == Kind::ShapeMismatch || kind == Kind::DtypeMismatch ||
         kind == Kind::OrderMismatch || kind == Kind::RootMismatch;
}

/// Adds evidence that follows from relations between hypotheses: one hypothesis supports or weakens another.
class Relations {
 public:
  Relations(const Scene& scene, Explanations& all) : scene_(scene), all_(all) {}

  void add_features() {
    add_young_waits();
    add_lost_data();
    add_seen_differences();
    add_unnamed_events();
    add_singled_out();
    add_agreements();
  }

 private:
  /// Dumps on demand are written at slightly different moments, so some ranks only seem absent or ahead. Calls that do
  /// not match each other, and direct statements, keep their weight.
  void add_young_waits() {
    // Three reports (Scene::are_reports_equal) of ncclras with equal counts show that nothing moves, unless the job often pauses as long.
    const std::vector<RasReport>& reports = scene_.logs.reports;
    const bool is_usual = reports.size() >= 3 && are_waits_usual(scene_.job, scene_.wait_state);
    const bool is_still = !is_usual && scene_.are_reports_equal();
    const bool is_settled = is_still || scene_.logs.timeouts > 0 ||
                            has_statement(What::EngineDiffers) || has_statement(What::LeftGroup);
    if (is_still && scene_.logs.timeouts == 0) add_short_waits();
    if (is_settled || !(is_usual || are_waits_young(scene_.job, scene_.wait_state))) return;
    const bool is_end_stated = has_statement(What::EngineGone) || has_statement(What::EngineCut);
    for (Explanation& one : all_) {
      const bool is_stated = sort_of(one.ground()) == Sort::Statements;
      if (!is_mismatch(one.kind) && !(is_stated && is_end_stated) && one.kind != Kind::NotAHang)
        one.add(Feature::YoungWaits);
    }
    if (is_end_stated) return;
    Explanation young;
    young.kind = Kind::NotAHang;
    young.features = {Feature::WaitsAreYoung};
    young.missing.push_back({Need::What::DumpsLater});
    all_.push_back(std::move(young));
  }

  /// A job that was asked within seconds of its last call may do work that its history does not show: its first
  /// checkpoint or evaluation.
  void add_short_waits() {
    constexpr double kShort =
        10;  // seconds. Chosen: shorter than any time-out, longer than most steps
    const std::optional<double> waited_s = longest_wait_s(scene_.job, scene_.wait_state);
    if (!waited_s || *waited_s >= kShort) return;
    for (Explanation& one : all_) {
      const bool is_absence = one.kind == Kind::MissingRank && sort_of(one.ground()) == Sort::Calls;
      const bool is_explained = one.has(Feature::AlsoStopped) || one.has(Feature::AlsoSilent) ||
                                one.has(Feature::OwnException);
      if (!is_absence || is_explained) continue;
      one.add(Feature::PaceUnknown);
      one.waited_s = *waited_s;
      one.missing.push_back({Need::What::DumpsLater});
    }
  }

  /// A connection that lost data explains which ranks wait.
  void add_lost_data() {
    const bool has_lost = std::ranges::any_of(all_, [](const Explanation& one) {
      return one.ground() == Feature::DataLost && !one.has(Feature::Doubtful);
    });
    if (!has_lost) return;
    for (Explanation& one : all_) {
      const bool may_follow = one.kind == Kind::DeadRank || one.kind == Kind::MissingRank ||
                              one.kind == Kind::Straggler || one.kind == Kind::P2pUnmatched ||
                              one.kind == Kind::DeadlockCycle;
      // A death that other ranks report is more certain than the data that was lost with it.
      if (may_follow && one.ground() != Feature::DeathSeenByPeers) one.add(Feature::DataWasLost);
    }
  }

  /// A lost dump explains any wait, and nothing contradicts it; differing calls explain more.
  void add_seen_differences() {
    const bool has_difference = std::ranges::any_of(all_, [](const Explanation& one) {
      return (is_mismatch(one.kind) || one.kind == Kind::DivergedControlFlow) &&
             !one.culprits.empty() && one.ground() != Feature::LastLinesDiffer;
    });
    if (!has_difference) return;
    for (Explanation& one : all_) {
      const bool is_away = one.kind == Kind::MissingRank || one.kind == Kind::DeadRank;
      const bool are_unseen =
          std::ranges::all_of(one.culprits, [&](int rank) { return scene_.is_unseen(rank); });
      if (is_away && !one.culprits.empty() && are_unseen) one.add(Feature::DifferenceSeen);
    }
  }

  /// If a process of unknown rank died or was busy, and one rank never arrived, that process is the rank.
  void add_unnamed_events() {
    Explanations joined;
    for (const Explanation& event : all_) {
      const bool is_event =
          event.culprits.empty() && (event.kind == Kind::DeadRank || event.kind == Kind::Straggler);
      if (!is_event || event.ground() == Feature::StoreLost || event.ground() == Feature::PeerLost)
        continue;
      for (const Explanation& absence : all_) {
        if (absence.kind != Kind::MissingRank || absence.culprits.size() != 1) continue;
        Explanation one = absence;
        one.kind = event.kind;
        one.add(Feature::UnnamedEvent);
        one.exit_code = event.exit_code;
        one.cause = event.cause;
        one.what = event.what;
        one.where = event.where;
        one.reporter = event.reporter;
        append(event.evidence, one.evidence);
        joined.push_back(std::move(one));
        break;
      }
    }
    std::ranges::move(joined, std::back_inserter(all_));
  }

  /// If calls differ with equally many ranks on each side, evidence of another sort may name one of them.
  void add_singled_out() {
    for (Explanation& tie : all_) {
      if (!tie.has(Feature::Tie) || tie.suspects.empty()) continue;
      for (Explanation& one : all_) {
        const bool is_of_tie = !one.culprits.empty() && one.culprits.size() < tie.suspects.size() &&
                               std::ranges::includes(tie.suspects, one.culprits);
        if (!is_of_tie || sort_of(one.ground()) == sort_of(tie.ground())) continue;
        one.add(Feature::Agrees);
        tie.add(Feature::OtherExplains);
      }
    }
  }

  /// Adds evidence of another sort for the same ranks. Dumps show that a rank is absent; only a log shows why.
  void add_agreements() {
    for (Explanation& one : all_) score(one);
    std::ranges::stable_sort(all_, [](const Explanation& a, const Explanation& b) {
      return a.confidence > b.confidence;
    });
    for (std::size_t i = 0; i < all_.size(); ++i) {
      Explanation& first = all_[i];
      if (first.culprits.empty()) continue;
      for (std::size_t k = i + 1; k < all_.size(); ++k) {
        Explanation& other = all_[k];
        const bool is_other_sort = sort_of(first.ground()) != sort_of(other.ground()) ||
                                   sort_of(first.ground()) == Sort::Statements;
        if (other.culprits != first.culprits || other.ground() == first.ground() || !is_other_sort)
          continue;
        take_over(other, first);
        other.add(Feature::OtherExplains);
      }
    }
  }

  /// Adds to a hypothesis what another one shows of the same ranks.
  static void take_over(const Explanation& other, Explanation& first) {
    first.add(Feature::Agrees);
    // A process that does not answer may be stopped as well as dead.
    const bool shows_why = (other.kind == Kind::DeadRank || other.kind == Kind::Straggler) &&
                           other.ground() != Feature::NoAnswer;
    if (first.kind == Kind::MissingRank && shows_why && !first.has(Feature::OwnException) &&
        first.ground() != Feature::Raised) {
      first.kind = other.kind;
      first.exit_code = other.exit_code;
      first.cause = other.cause;
    }
    // Other ranks see that a process is gone; its launcher knows how it ended.
    if (first.kind == Kind::DeadRank && other.kind == Kind::DeadRank &&
        first.cause == facts::DeathCause::Unknown) {
      first.exit_code = other.exit_code;
      first.cause = other.cause;
    }
    if (other.ground() == Feature::NoAnswer) first.add(Feature::AlsoSilent);
    if (other.ground() == Feature::ProcessStopped) first.add(Feature::AlsoStopped);
    append(other.evidence, first.evidence);
    const auto fill = [](auto& field, const auto& value) {
      if (field.empty()) field = value;
    };
    fill(first.call, other.call);
    fill(first.stack, other.stack);
    fill(first.what, other.what);
    fill(first.where, other.where);
    fill(first.waiting, other.waiting);
    fill(first.places, other.places);
  }

  static void append(const std::vector<Evidence>& more, std::vector<Evidence>& evidence) {
    evidence.insert(evidence.end(), more.begin(), more.end());
  }

  static void score(Explanation& one) { one.confidence = confidence_of(one.features); }

  [[nodiscard]] bool has_statement(What what) const {
    return std::ranges::any_of(scene_.logs.statements,
                               [what](const LogStatement& one) { return one.what == what; });
  }

  const Scene& scene_;
  Explanations& all_;
};

/// Adds what the stacks show about the named ranks.
void add_stacks_of(const LogFacts& logs, Explanation& best) {
  constexpr std::size_t kMost = 12;
  for (const ProcessStack& stack : logs.stacks) {
    const bool is_named = std::ranges::any_of(
        stack.ranks, [&](int rank) { return std::ranges::binary_search(best.culprits, rank); });
    const std::string text = position_of(stack).text;
    const bool is_new =
        std::ranges::none_of(best.places, [&](const RanksAt& one) { return one.what == text; });
    if (!is_named || !is_new || best.places.size() >= kMost) continue;
    best.places.push_back({stack.ranks, "", text});
    const bool is_quoted = std::ranges::any_of(best.evidence, [&](const Evidence& one) {
      return one.file == stack.file && one.line == stack.line;
    });
    if (!is_quoted) best.evidence.push_back({stack.file, -1, stack.line, stack.text()});
  }
  if (best.stack.empty() && best.kind != Kind::NotAHang) best.stack = logs.call_stack;
}

/// Adds what hypotheses take from each other: stated trouble contradicts that the job is only idle, and trouble before
/// the job continued was temporary.
void add_contradictions(bool is_trouble_stated, Explanations& all) {
  const bool is_slow =
      std::ranges::any_of(all, [](const Explanation& one) { return one.kind == Kind::Straggler; });
  const bool is_overcome = std::ranges::any_of(
      all, [](const Explanation& one) { return one.ground() == Feature::WentOn; });
  for (Explanation& one : all) {
    const bool is_quiet = sort_of(one.ground()) == Sort::Quiet;
    // A job with a slow rank also continues.
    const bool is_sure =
        one.ground() == Feature::Moved || (one.ground() == Feature::WentOn && !is_slow);
    if (is_trouble_stated && is_quiet && !is_sure) one.add(Feature::TroubleStated);
    if (is_overcome && !is_quiet && one.kind != Kind::Straggler) one.add(Feature::Overcome);
  }
}

/// Returns the most certain hypothesis with what stacks and connections add, and the others that differ from it.
/// shape  not empty
Verdict rank_hypotheses(const Scene& scene, Explanations all) {
  for (Explanation& one : all) one.confidence = confidence_of(one.features);
  std::ranges::stable_sort(
      all, [](const Explanation& a, const Explanation& b) { return a.confidence > b.confidence; });
  Verdict verdict;
  verdict.best = std::move(all.front());
  add_stacks_of(scene.logs, verdict.best);
  add_lacking_chunks(scene.connections, verdict.best);
  for (std::size_t i = 1; i < all.size(); ++i) {
    // Unknown without a culprit is listed only once, and not next to a cause.
    const bool is_doubt = all[i].kind == Kind::Unknown && all[i].culprits.empty();
    // The same cause with other evidence is not another hypothesis.
    const auto is_same = [&](const Explanation& one) {
      return one.kind == all[i].kind && one.culprits == all[i].culprits;
    };
    const bool is_known = is_same(verdict.best) || std::ranges::any_of(verdict.others, is_same);
    if (!is_doubt && !is_known) verdict.others.push_back(std::move(all[i]));
  }
  return verdict;
}

}  // namespace

bool Scene::is_blocked_anywhere() const {
  return std::ranges::any_of(wait_state.blocks, [](const auto& one) { return one.has_value(); });
}

bool Scene::has_few_dumps() const {
  int unseen = 0;
  for (int rank = 0; rank < job.world(); ++rank) unseen += is_unseen(rank) ? 1 : 0;
  return unseen > 1 && unseen * 2 >= job.world();
}

bool Scene::spans_hosts() const {
  if (logs.hosts > 1) return true;
  std::set<std::string> hosts;
  for (const auto& [rank, process] : logs.processes) {
    if (!process.host.empty()) hosts.insert(process.host);
  }
  facts::each_list(logs.facts, [&](const auto& list) {
    for (const facts::Fact& one : list) {
      if (!one.subject.host.empty()) hosts.insert(one.subject.host);
    }
  });
  return hosts.size() > 1;
}

bool Scene::are_reports_equal() const {
  constexpr std::size_t kEnough =
      3;  // as many as `ringside attach` asks for (attach::Request::reports)
  return logs.reports.size() >= kEnough && !has_moved(logs.reports);
}

bool Scene::is_hang_reported() const {
  return logs.timeouts > 0 || logs.run.waits > 0 || logs.run.claims > 0 ||
         std::ranges::any_of(logs.stacks, [](const ProcessStack& one) {
           return is_waiting_for_ranks(one.activity);
         });
}

bool is_world_known(const Job& job, const LogFacts& logs) {
  return has_dumps(job) || (logs.known_world > 0 && logs.known_world >= job.world());
}

Verdict decide(const Job& job, const LogFacts& logs, const Connections& connections) {
  const WaitState wait_state = wait_state_of(job);
  const Habits habits(job);
  const facts::Facts facts = facts_of(logs);
  const Scene scene{.job = job,
                    .wait_state = wait_state,
                    .habits = habits,
                    .facts = facts,
                    .logs = logs,
                    .connections = connections.all,
                    .has_both_ends = connections.has_both_ends,
                    .has_dumps = has_dumps(job),
                    .is_world_known = is_world_known(job, logs),
                    .timed_out = ranks_that_timed_out(logs)};
  Explanations all;
  add_reports(scene, all);
  add_deaths(scene, all);
  add_links(scene, all);
  add_busy(scene, all);
  add_positions(scene, all);
  const bool is_trouble_stated = !all.empty();
  add_quiet(scene, all);
  const bool is_moving = std::ranges::any_of(
      all, [](const Explanation& one) { return one.ground() == Feature::Moved; });
  if (!is_moving && scene.is_blocked_anywhere()) {
    add_mismatches(scene, all);
    add_cycles(scene, all);
    add_stalls(scene, all);
    add_connections(scene, all);
  }
  if (!is_moving) add_absences(scene, all);
  if (!is_moving) add_line_mismatches(scene, all);
  // Counters of watchdogs are weaker evidence than calls, stacks and reports.
  const bool is_any_named =
      std::ranges::any_of(all, [](const Explanation& one) { return !one.culprits.empty(); });
  if (!is_any_named) add_enqueued(scene, all);
  if (all.empty()) add_unexplained(scene, all);
  add_contradictions(is_trouble_stated, all);
  Relations(scene, all).add_features();
  return rank_hypotheses(scene, std::move(all));
}

}  // namespace ringside::hang
