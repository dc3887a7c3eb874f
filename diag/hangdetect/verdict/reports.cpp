#include <algorithm>
#include <utility>

#include "diag/hangdetect/verdict/evidence.h"
#include "diag/hangdetect/verdict/scene.h"

namespace ringside::hang {
namespace {

using facts::Basis;
using facts::Field;
using facts::Member;
using facts::Mismatch;
using facts::Reporter;
using Members = FactList<Member>;

/// Adds doubt if a named rank waits in a call according to its dump: then it is not the rank that never arrived.
void doubt_waiting(const Scene& scene, Explanation& one) {
  const bool waits = std::ranges::any_of(one.culprits, [&](int rank) {
    return !scene.is_unseen(rank) && !scene.job.rank(rank).is_from_log &&
           !scene.waits(rank).empty();
  });
  if (waits) one.add(Feature::ShownWaiting);
}

Explanation& add_missing(const Scene& scene, Feature ground, const Members& said,
                         Explanations& out) {
  out.push_back(stated(Kind::MissingRank, ground, said, ranks_of(said)));
  doubt_waiting(scene, out.back());
  return out.back();
}

/// Adds reports of libraries that name the ranks that did not arrive. If several report on one job, each report is one
/// hypothesis.
void add_named(const Scene& scene, Explanations& out) {
  std::vector<Reporter> reporters;
  for (const Member& one : scene.facts.members) {
    const bool is_named = one.basis == Basis::Reported && !one.missing.empty() && one.behind == 0 &&
                          one.group.empty();
    if (is_named && std::ranges::find(reporters, one.reporter) == reporters.end())
      reporters.push_back(one.reporter);
  }
  for (const Reporter reporter : reporters) {
    const Members said = facts_where(scene.facts.members, [&](const Member& one) {
      return one.reporter == reporter && one.basis == Basis::Reported && !one.missing.empty() &&
             one.behind == 0 && one.group.empty();
    });
    Explanation& one = add_missing(scene, Feature::ReportedAbsent, said, out);
    // In a network partition, the ranks on each side look stopped to the other side.
    const bool is_mutual = !one.culprits.empty() && have_reported(scene, one.culprits);
    if (is_mutual) {
      one.kind = Kind::NetworkStall;
      one.features = {Feature::LinkFailed};
      one.others = std::exchange(one.culprits, {});
    }
  }
}

void add_weaker(const Scene& scene, Explanations& out) {
  const Members not_started = facts_where(scene.facts.members, [](const Member& one) {
    return one.basis == Basis::Observed && !one.missing.empty();
  });
  if (!not_started.empty()) {
    Explanation& one = add_missing(scene, Feature::NotStarted, not_started, out);
    for (const Member* member : not_started)
      one.waiting.insert(one.waiting.end(), member->ranks.begin(), member->ranks.end());
    one.missing.push_back({Need::What::Logs, one.culprits});
    one.missing.push_back({Need::What::LauncherLog});
  }
  const Members behind = facts_where(scene.facts.members, [](const Member& one) {
    return one.behind > 0 && !one.missing.empty();
  });
  if (!behind.empty()) {
    Explanation& one = add_missing(scene, Feature::CallsBehind, behind, out);
    one.count = behind.front()->behind;
    if (one.count == 1) one.add(Feature::OneCall);
    one.missing.push_back({Need::What::RasTwice});
  }
  const Members status = facts_where(scene.facts.members, [](const Member& one) {
    return one.basis == Basis::Reported && !one.missing.empty() && !one.group.empty();
  });
  if (!status.empty()) {
    Explanation& one = add_missing(scene, Feature::StatusDiffers, status, out);
    one.what = status.front()->group;
    if (one.reporter == Reporter::Kubernetes) one.missing.push_back({Need::What::PodEvents});
  }
  const Members people = facts_where(scene.facts.members,
                                     [](const Member& one) { return one.basis == Basis::Person; });
  if (!people.empty()) add_missing(scene, Feature::PersonSays, people, out);
}

/// Adds reports with counts but without names of ranks.
void add_unnamed_reports(const Scene& scene, Explanations& out) {
  const Members counted = facts_where(
      scene.facts.members, [](const Member& one) { return one.count >= 0 && one.missing.empty(); });
  // A report that names the missing ranks is more precise.
  const bool is_named = std::ranges::any_of(out, [](const Explanation& one) {
    return one.ground() == Feature::ReportedAbsent && !one.culprits.empty();
  });
  if (!counted.empty() && !is_named) {
    Explanation one = stated(Kind::MissingRank, Feature::ArrivalsCounted, counted, {});
    for (const Member* member : counted) {
      one.waiting.insert(one.waiting.end(), member->ranks.begin(), member->ranks.end());
      one.count = member->count;
      one.total = member->size;
    }
    std::sort(one.waiting.begin(), one.waiting.end());
    one.waiting.erase(std::unique(one.waiting.begin(), one.waiting.end()), one.waiting.end());
    one.missing.push_back({one.total < 0 ? Need::What::WorldSize : Need::What::LauncherLog});
    one.missing.push_back({Need::What::Logs, {0}});
    out.push_back(std::move(one));
  }
  const Members ahead =
      facts_where(scene.facts.members, [](const Member& one) { return one.behind < 0; });
  if (!ahead.empty()) {
    Explanation one = stated(Kind::Unknown, Feature::CallsBehind, ahead, {});
    one.add(Feature::Consequence);
    one.others = ahead.front()->ranks;
    one.missing.push_back({Need::What::RasTwice});
    one.missing.push_back({Need::What::Stacks});
    out.push_back(std::move(one));
  }
}

void add_left(const Scene& scene, Explanations& out) {
  if (scene.logs.timeouts == 0 || scene.timed_out.empty()) return;
  const Members left = facts_where(scene.facts.members, [&](const Member& one) {
    return one.has_left && one.subject.is_known() && !scene.timed_out.contains(one.subject.rank);
  });
  if (left.empty()) return;
  std::set<int> ranks;
  for (const Member* one : left) ranks.insert(one->subject.rank);
  out.push_back(stated(Kind::MissingRank, Feature::LeftGroup, left, {ranks.begin(), ranks.end()}));
  doubt_waiting(scene, out.back());
  out.back().missing.push_back({Need::What::Logs, out.back().culprits});
}

Kind kind_of(Field field) {
  switch (field) {
    case Field::Size:
      return Kind::ShapeMismatch;
    case Field::DType:
      return Kind::DtypeMismatch;
    case Field::Root:
      return Kind::RootMismatch;
    case Field::Order:
      return Kind::OrderMismatch;
    case Field::Count:
      return Kind::DivergedControlFlow;
    case Field::Peer:
      return Kind::P2pUnmatched;
    default:
      return Kind::OpMismatch;
  }
}

/// Adds differing calls that a library or a tool reports.
void add_differences(const Scene& scene, Explanations& out) {
  std::vector<Reporter> reporters;
  for (const Mismatch& one : scene.facts.mismatches) {
    if (std::ranges::find(reporters, one.reporter) == reporters.end())
      reporters.push_back(one.reporter);
  }
  for (const Reporter reporter : reporters) {
    const FactList<Mismatch> said = facts_where(
        scene.facts.mismatches, [&](const Mismatch& one) { return one.reporter == reporter; });
    std::vector<int> ranks = ranks_of(said);
    // For two equally large sides, ncclras lists both: neither is the odd one.
    const bool is_tie = ranks.size() * 2 > static_cast<std::size_t>(scene.job.world());
    if (reporter == Reporter::Ras && is_tie) ranks.clear();
    const bool is_person = said.front()->basis == Basis::Person;
    // Any two different calls that were matched end like this; dumps show which calls they were.
    if (ranks.empty() && scene.has_dumps) continue;
    // The analyser of the dumps assumes that its first rank is right.
    const bool is_analyser = reporter == Reporter::Analyser;
    if (is_analyser && ranks.empty()) continue;
    const auto named =
        std::ranges::find_if(said, [](const Mismatch* one) { return one->field != Field::Size; });
    const Field field = is_analyser && named != said.end() ? (*named)->field : said.front()->field;
    Explanation one = stated(
        kind_of(field), is_person ? Feature::PersonSays : Feature::MismatchReported, said, ranks);
    if (is_analyser || reporter == Reporter::Transport) one.add(Feature::Doubtful);
    if (ranks.empty()) one.missing.push_back({Need::What::CallLines});
    one.missing.push_back({Need::What::Dumps});
    out.push_back(std::move(one));
  }
}

}  // namespace

void add_reports(const Scene& scene, Explanations& out) {
  add_named(scene, out);
  add_weaker(scene, out);
  add_unnamed_reports(scene, out);
  add_left(scene, out);
  add_differences(scene, out);
}

}  // namespace ringside::hang
