#include "diag/hangdetect/verdict/decide.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "diag/hangdetect/model/blocks.h"
#include "diag/hangdetect/verdict/compare.h"
#include "diag/hangdetect/verdict/explain.h"
#include "diag/hangdetect/verdict/habits.h"
#include "diag/hangdetect/verdict/progress.h"

namespace ringside::hang {
namespace {

void add(std::vector<Explanation>& all, std::vector<Explanation> some) {
  all.insert(all.end(), std::make_move_iterator(some.begin()), std::make_move_iterator(some.end()));
}

bool stands_anywhere(const Standing& standing) {
  return std::any_of(standing.blocks.begin(), standing.blocks.end(),
                     [](const auto& block) { return block.has_value(); });
}

Explanation moving(const Progress& progress) {
  Explanation out;
  out.kind = Kind::NotAHang;
  out.confidence = progress.moved.size() > 1 ? 0.85 : 0.7;
  out.why = "the job was moving while these dumps were written: " + progress.why;
  out.missing.push_back("dumps of all ranks taken once progress has stopped, if it has");
  return out;
}

/// Dumps on demand, taken at slightly different moments: ranks look absent or ahead that are not. Only
/// calls that do not fit each other stay what they are, and so does what is told outright, the first `told`.
void doubt(std::vector<Explanation>& all, std::size_t told) {
  for (std::size_t i = told; i < all.size(); ++i) {
    Explanation& one = all[i];
    const bool is_mismatch = one.kind == Kind::OpMismatch || one.kind == Kind::ShapeMismatch ||
                             one.kind == Kind::DtypeMismatch || one.kind == Kind::OrderMismatch ||
                             one.kind == Kind::RootMismatch;
    if (!is_mismatch) one.confidence = std::min(one.confidence, 0.3);
  }
  if (told > 0) return;
  Explanation out;
  out.kind = Kind::NotAHang;
  out.confidence = 0.6;
  out.why =
      "no call had waited long when the dumps were written: they are of a job that moved, or had "
      "only just "
      "stopped";
  out.missing.push_back(
      "a second set of dumps some seconds later: does anybody stand where they stood?");
  all.push_back(std::move(out));
}

/// Ranks stand somewhere, and what is left of the job does not say in what relation to each other.
Explanation unexplained(const Job& job, const Standing& standing) {
  Explanation out;
  out.confidence = 0.3;
  std::vector<int> ranks;
  bool is_transfer = true;
  for (int r = 0; r < job.world(); ++r) {
    const auto& block = standing.blocks[static_cast<std::size_t>(r)];
    if (!block) continue;
    ranks.push_back(r);
    is_transfer = is_transfer && block->is_p2p;
    const Call& call = job.rank(r).dump->calls[block->call];
    if (out.call.empty()) out.call = call_title(job, block->group, call);
    if (out.evidence.size() < 8) {
      out.evidence.push_back(
          evidence_of(job, r, call, "waits: " + call_title(job, block->group, call)));
    }
  }
  if (is_transfer) out.kind = Kind::P2pUnmatched;
  out.why = fmt::format("{}, first in {}, and nothing that is left says for whom",
                        ranks_that(ranks, "waits", "wait"), out.call);
  out.missing.push_back("Flight Recorder dumps of all ranks: a log line leaves out the peer");
  return out;
}

bool has_said(const LogFacts& facts, LogStatement::What what) {
  return std::any_of(facts.statements.begin(), facts.statements.end(),
                     [what](const LogStatement& one) { return one.what == what; });
}

/// Whether the engine's own words tell why the job ended at once, before anybody had waited long.
bool is_end_told(const LogFacts& facts) {
  return has_said(facts, LogStatement::What::EngineGone) ||
         has_said(facts, LogStatement::What::EngineCut);
}

/// A process that crashed or was busy, of which nothing says whose it was, and a rank that never came: the one is the
/// other.
void join_nameless(Kind kind, std::vector<Explanation>& all) {
  const auto nameless = std::find_if(all.begin(), all.end(), [kind](const Explanation& one) {
    return one.kind == kind && one.culprits.empty();
  });
  if (nameless == all.end()) return;
  for (Explanation& one : all) {
    if (one.kind != Kind::MissingRank || one.culprits.size() != 1 || one.confidence < 0.5) continue;
    one.kind = kind;
    one.why += "; " + nameless->why;
    one.evidence.insert(one.evidence.end(), nameless->evidence.begin(), nameless->evidence.end());
    nameless->confidence = std::min(nameless->confidence, one.confidence - 0.1);
    return;
  }
}

/// What the stacks show of the ranks that are named.
void join_stacks(const LogFacts& facts, Explanation& best) {
  for (const ProcessStack& stack : facts.stacks) {
    const bool is_named = std::any_of(stack.ranks.begin(), stack.ranks.end(), [&](int rank) {
      return std::binary_search(best.culprits.begin(), best.culprits.end(), rank);
    });
    constexpr std::size_t kMostDetails = 12;
    const std::string text = stack.text();
    const bool is_new = std::none_of(
        best.details.begin(), best.details.end(),
        [&](const std::string& one) { return one.find(stack.place()) != std::string::npos; });
    if (!is_named || !is_new || best.details.size() >= kMostDetails) continue;
    best.details.push_back(text);
    const bool is_quoted =
        std::any_of(best.evidence.begin(), best.evidence.end(), [&](const Evidence& one) {
          return one.file == stack.file && one.line == static_cast<std::int64_t>(stack.line);
        });
    if (!is_quoted) best.evidence.push_back({stack.file, -1, stack.line, text});
  }
  if (best.stack.empty() && best.kind != Kind::NotAHang) best.stack = facts.call_stack;
}

/// Two kinds of evidence for the same ranks are surer than either: a rank that the dumps find absent and
/// whose log tells of its death died.
void agree(const LogFacts& facts, std::vector<Explanation>& all) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t k = i + 1; k < all.size(); ++k) {
      if (all[i].culprits.empty() || all[i].culprits != all[k].culprits) continue;
      Explanation& first = all[i];
      Explanation& second = all[k];
      const double both = 1 - (1 - first.confidence) * (1 - second.confidence);
      Explanation& surer = first.confidence >= second.confidence ? first : second;
      Explanation& other = first.confidence >= second.confidence ? second : first;
      surer.confidence = std::min(0.95, both);
      // The dumps tell that a rank is away; only a log tells why.
      const auto notes = facts.notes.find(surer.culprits.front());
      const bool has_exception = notes != facts.notes.end() && notes->second.has_exception;
      // A rank that raised an exception is not slow: it does not come any more.
      const bool names_death =
          other.kind == Kind::DeadRank || (other.kind == Kind::Straggler && !has_exception);
      if (surer.kind == Kind::MissingRank && names_death) surer.kind = other.kind;
      surer.evidence.insert(surer.evidence.end(), other.evidence.begin(), other.evidence.end());
      if (surer.call.empty()) surer.call = other.call;
      if (surer.stack.empty()) surer.stack = other.stack;
      if (surer.details.empty()) surer.details = other.details;
      other.confidence *= 0.9;
    }
  }
}

/// A lost dump explains any waiting, and nothing speaks against it: what the dumps that are left show
/// ranks above it.
void weigh(std::vector<Explanation>& all, const Job& job) {
  const auto is_of_lost = [&](const Explanation& one) {
    return !one.culprits.empty() && (one.kind == Kind::MissingRank || one.kind == Kind::DeadRank) &&
           std::all_of(one.culprits.begin(), one.culprits.end(), [&](int rank) {
             return rank < job.world() && job.rank(rank).dump == nullptr;
           });
  };
  double shown = 0;
  for (const Explanation& one : all) {
    const bool is_mismatch = one.kind == Kind::OpMismatch || one.kind == Kind::ShapeMismatch ||
                             one.kind == Kind::DtypeMismatch || one.kind == Kind::OrderMismatch ||
                             one.kind == Kind::DivergedControlFlow ||
                             one.kind == Kind::RootMismatch;
    if (is_mismatch && !one.culprits.empty()) shown = std::max(shown, one.confidence);
  }
  for (Explanation& one : all) {
    if (shown > 0 && is_of_lost(one)) one.confidence = std::min(one.confidence, shown - 0.05);
  }
  std::stable_sort(all.begin(), all.end(), [](const Explanation& a, const Explanation& b) {
    return a.confidence > b.confidence;
  });
}

std::string against(const Explanation& best, const Explanation& other) {
  if (other.kind == best.kind) return "the same kind of cause, with weaker evidence";
  switch (other.kind) {
    case Kind::NetworkStall:
      return "a stall has no culprit, and here one stands out";
    case Kind::MissingRank:
    case Kind::DeadRank:
      return other.confidence < 0.6 ? "a lost dump alone does not show that the rank is gone"
                                    : "its absence follows from the other cause";
    case Kind::NotAHang:
      return "ranks stand in calls that cannot end";
    default:
      return "explains fewer of the waiting ranks, or with weaker evidence";
  }
}

}  // namespace

std::optional<Explanation> explain_lines(const Job& lines) {
  Standing standing;
  for (std::size_t group = 0; group < lines.groups().size(); ++group) {
    if (auto front = first_difference(lines, static_cast<int>(group))) {
      standing.fronts.push_back(*std::move(front));
    }
  }
  const Habits habits(lines);
  std::vector<Explanation> found = explain_mismatches({lines, standing, habits});
  const auto best = std::max_element(
      found.begin(), found.end(),
      [](const Explanation& a, const Explanation& b) { return a.confidence < b.confidence; });
  if (best == found.end()) return std::nullopt;
  return std::move(*best);
}

bool is_world_known(const Job& job, const LogFacts& facts) {
  return has_dumps(job) || (facts.known_world > 0 && facts.known_world >= job.world());
}

Verdict decide(const Job& job, const LogFacts& facts) {
  const Standing standing = standing_of(job);
  const Habits habits(job);
  const Scene scene{job, standing, habits, is_world_known(job, facts)};
  std::vector<Explanation> all;
  const Progress progress = progress_of(job);
  std::vector<Explanation> said = explain_logs(scene, facts);
  add(said, explain_prose(facts));
  if (!facts.moved.empty()) {
    all.push_back(moving({{0, 1}, facts.moved}));
  } else if (!progress.moved.empty()) {
    all.push_back(moving(progress));
  } else if (!stands_anywhere(standing)) {
    add(said, explain_stacks(scene, facts));
    if (said.empty()) all.push_back(explain_quiet(scene, facts));
    add(all, std::move(said));
  } else {
    const std::size_t told = is_end_told(facts) ? said.size() : 0;
    add(all, std::move(said));
    if (!facts.stacks.empty()) add(all, explain_stacks(scene, facts));
    add(all, explain_mismatches(scene));
    add(all, explain_cycles(scene));
    add(all, explain_absence(scene));
    add(all, explain_stalls(scene));
    if (all.empty()) all.push_back(unexplained(job, standing));
    const bool is_settled =
        facts.timeouts > 0 || has_said(facts, LogStatement::What::EngineDiffers);
    if (!is_settled && are_waits_young(job, standing)) doubt(all, told);
  }
  join_nameless(Kind::DeadRank, all);
  join_nameless(Kind::Straggler, all);
  agree(facts, all);
  weigh(all, job);
  Verdict verdict;
  verdict.best = std::move(all.front());
  join_stacks(facts, verdict.best);
  verdict.best.next = next_step(scene, facts, verdict.best);
  bool is_doubt_told = verdict.best.kind == Kind::Unknown;
  for (std::size_t i = 1; i < all.size(); ++i) {
    // That nothing is known for sure is said once.
    const bool is_doubt = all[i].kind == Kind::Unknown && all[i].culprits.empty();
    if (is_doubt && is_doubt_told) continue;
    is_doubt_told = is_doubt_told || is_doubt;
    all[i].against = against(verdict.best, all[i]);
    verdict.others.push_back(std::move(all[i]));
  }
  return verdict;
}

}  // namespace ringside::hang
