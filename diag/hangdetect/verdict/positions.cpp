#include "diag/hangdetect/verdict/positions.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/text.h"
#include "diag/facts/call_lines.h"
#include "diag/hangdetect/readers/last_lines.h"
#include "diag/hangdetect/readers/op_name.h"
#include "diag/hangdetect/verdict/fingerprint.h"
#include "diag/hangdetect/verdict/scene.h"

namespace ringside::hang {
namespace {

using What = LogStatement::What;

/// The positions with an equal value, such as one operation; groups with the most processes come first.
struct PositionGroup {
  std::string value;
  std::vector<const Position*> positions;
  int count = 0;

  /// Returns the ranks; empty unless every process has a rank.
  [[nodiscard]] std::vector<int> ranks() const {
    std::set<int> all;
    for (const Position* one : positions) {
      if (static_cast<int>(one->ranks.size()) < one->count) return {};
      all.insert(one->ranks.begin(), one->ranks.end());
    }
    return {all.begin(), all.end()};
  }
};

template <typename Value>
std::vector<PositionGroup> group_by(const Positions& positions, Value value_of) {
  std::vector<PositionGroup> groups;
  for (const Position& one : positions) {
    const std::string value = value_of(one);
    auto group = std::ranges::find_if(
        groups, [&](const PositionGroup& known) { return known.value == value; });
    if (group == groups.end()) group = groups.insert(groups.end(), {value, {}, 0});
    group->positions.push_back(&one);
    group->count += one.count;
  }
  std::ranges::stable_sort(
      groups, [](const PositionGroup& a, const PositionGroup& b) { return a.count > b.count; });
  return groups;
}

int count_of(const Positions& positions) {
  int count = 0;
  for (const Position& one : positions) count += one.count;
  return count;
}

void add_places(const PositionGroup& group, Explanation& out) {
  constexpr std::size_t kShown = 8;
  for (const Position* one : group.positions) {
    const bool is_known = std::ranges::any_of(out.places, [&](const RanksAt& known) {
      return known.what == one->text && known.ranks == one->ranks;
    });
    if (is_known || out.places.size() >= kShown) continue;
    out.places.push_back({one->ranks, one->process_name, one->text});
    out.evidence.push_back(one->evidence);
  }
  if (out.stack.empty() && !group.positions.empty()) out.stack = group.positions.front()->stack;
}

/// A property in which groups of positions may differ, and the kind of hang that the difference shows.
struct Property {
  Kind kind;
  std::string (*value_of)(const Position&);
};

constexpr Property kProperties[] = {
    {Kind::OpMismatch, [](const Position& one) { return one.op; }},
    {Kind::DtypeMismatch, [](const Position& one) { return one.dtype; }},
    {Kind::ShapeMismatch, [](const Position& one) { return one.shape; }},
    {Kind::RootMismatch, [](const Position& one) { return one.root; }},
};

/// Names the ranks that differ from the majority. With equally many ranks on each side there is no culprit.
Explanation explain_different_positions(const std::vector<PositionGroup>& groups, Kind kind,
                                        Feature ground, bool has_pairs) {
  Explanation out;
  out.kind = kind;
  out.features = {ground};
  int all = 0;
  for (const PositionGroup& group : groups) all += group.count;
  // Checks name each pair of ranks that they compare: a rank that differs from all is in every pair.
  const bool is_majority =
      has_pairs ? groups[0].count > groups[1].count : groups[0].count * 2 > all;
  for (std::size_t i = is_majority ? 1 : 0; i < groups.size(); ++i) {
    const std::vector<int> ranks = groups[i].ranks();
    std::vector<int>& named = is_majority ? out.culprits : out.suspects;
    named.insert(named.end(), ranks.begin(), ranks.end());
    add_places(groups[i], out);
  }
  std::ranges::sort(out.culprits);
  std::ranges::sort(out.suspects);
  if (is_majority) {
    out.others = groups[0].ranks();
    add_places(groups[0], out);
  } else {
    out.add(Feature::Tie);
  }
  if (groups.size() > 2) out.add(Feature::ManySides);
  return out;
}

/// Uses each rank's call as printed by the check of every call (TORCH_DISTRIBUTED_DEBUG=DETAIL).
void add_checks(const Scene& scene, Explanations& out) {
  std::map<int, Position> by_rank;
  for (const LogStatement& one : scene.logs.statements) {
    if (one.what != What::Fingerprint || one.ranks.empty()) continue;
    Position at;
    at.ranks = {one.ranks.front()};
    at.op = fingerprint_part(one.detail, "OpType=");
    at.shape = fingerprint_part(one.detail, "TensorShape=");
    at.dtype = fingerprint_part(one.detail, "TensorDtypes=");
    at.sequence = fingerprint_sequence(one.detail);
    at.text = one.detail;
    at.evidence = {one.file, -1, one.line, one.text};
    by_rank[at.ranks.front()] = std::move(at);
  }
  Positions positions;
  for (auto& [rank, at] : by_rank) positions.push_back(std::move(at));
  const auto groups = group_by(positions, [](const Position& one) { return one.text; });
  if (groups.size() < 2) return;
  const Position& first = *groups[0].positions.front();
  const Position& second = *groups[1].positions.front();
  Kind kind = Kind::ShapeMismatch;
  bool is_same = true;
  for (const Property& property : kProperties) {
    if (property.value_of(first) == property.value_of(second)) continue;
    kind = property.kind;
    is_same = false;
    // Tensors with other dimensions are different tensors rather than longer or shorter ones: the two ranks make calls
    // in a different order.
    const bool are_others = kind == Kind::ShapeMismatch && groups.size() == 2 &&
                            groups[0].count == groups[1].count &&
                            dimensions_of(first.shape) != dimensions_of(second.shape);
    if (are_others) kind = Kind::OrderMismatch;
    break;
  }
  // The same call with another number: some ranks made an additional call before it.
  if (is_same) kind = Kind::DivergedControlFlow;
  Explanation one = explain_different_positions(groups, kind, Feature::CheckDiffers, true);
  if (is_same) {
    one.count =
        std::max(first.sequence, second.sequence) - std::min(first.sequence, second.sequence);
    one.add(Feature::Doubtful);
    if (one.culprits.empty()) one.kind = Kind::Unknown;
  }
  out.push_back(std::move(one));
}

/// Returns whether the line names a wait: `init_process_group ...`, `waiting in barrier`.
bool names_wait(std::string_view text) {
  const std::string small = lower_case(text);
  for (const std::string_view word :
       {"init_process_group", "barrier", "waiting", "rendezvous", "all_reduce", "allreduce",
        "all_gather", "allgather", "reduce_scatter", "broadcast(", "joining", "connecting"}) {
    if (small.find(word) != std::string::npos) return true;
  }
  return false;
}

/// Returns whether a rank's last line reports that it skips something that the others do, such as its last batch.
bool skips(std::string_view text) {
  const std::string small = lower_case(text);
  return small.find("skip") != std::string::npos || small.find("exhausted") != std::string::npos ||
         small.find("no more batches") != std::string::npos;
}

Explanation explain_last_lines(const Scene& scene, Kind kind, std::vector<int> ranks,
                               const std::vector<int>& shown) {
  Explanation one;
  one.kind = kind;
  one.culprits = std::move(ranks);
  one.features = {Feature::LastLinesDiffer};
  for (const int rank : shown) {
    const LastLine& line = scene.logs.run.last_lines.at(rank);
    one.places.push_back({{rank}, "", line.text});
    one.evidence.push_back({line.file, -1, line.line, line.text});
  }
  one.missing.push_back({Need::What::Stacks});
  return one;
}

void add_last_lines(const Scene& scene, Explanations& out) {
  const auto& lines = scene.logs.run.last_lines;
  if (lines.empty()) return;
  const OddLine odd = odd_line_out(lines);
  // People list call numbers by rank for jobs that hang.
  if (!scene.is_hang_reported() && !odd.field.starts_with("seq")) return;
  std::vector<int> skipping;
  for (const auto& [rank, last] : lines) {
    if (skips(last.text)) skipping.push_back(rank);
  }
  if (!skipping.empty() && skipping.size() * 2 <= lines.size()) {
    std::vector<int> shown(
        skipping.begin(),
        skipping.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(6, skipping.size())));
    out.push_back(explain_last_lines(scene, Kind::DivergedControlFlow, skipping, shown));
  }
  if (odd.odd.empty() || scene.logs.run.has_finished) return;
  // Calls are compared by their fields, not as text.
  const auto is_call = [&](int rank) { return !facts::read_calls(lines.at(rank).text).empty(); };
  if (!scene.logs.stated_calls.empty() && is_call(odd.odd.front()) && is_call(odd.rest.front()))
    return;
  // Three lines of a job of a thousand ranks are not a majority.
  const auto world =
      static_cast<std::size_t>(std::max(scene.logs.known_world, lines.rbegin()->first + 1));
  if (lines.size() * 2 < world) return;
  // If most ranks wait according to their own lines, and a few are elsewhere, these few have not arrived.
  const bool waits = names_wait(lines.at(odd.rest.front()).text);
  const bool waits_too = names_wait(lines.at(odd.odd.front()).text);
  const bool have_given_up =
      std::ranges::includes(scene.timed_out, odd.rest) &&
      std::ranges::none_of(odd.odd, [&](int rank) { return scene.timed_out.contains(rank); });
  const Kind kind = odd.field.empty() && (have_given_up || (waits && !waits_too))
                        ? Kind::MissingRank
                    : odd.field.starts_with("seq")              ? Kind::MissingRank
                    : odd.field == "src" || odd.field == "root" ? Kind::RootMismatch
                    : odd.field.empty()                         ? Kind::DivergedControlFlow
                                                                : Kind::ShapeMismatch;
  out.push_back(explain_last_lines(scene, kind, odd.odd,
                                   std::vector<int>{odd.odd.front(), odd.rest.front()}));
  out.back().what = odd.field;
  out.back().others = odd.rest;
}

/// Returns whether the process neither computes nor compiles: it is stuck, or takes another branch than the others.
bool is_still(const Position& one) {
  return one.activity != Activity::Compute && one.activity != Activity::Compile &&
         one.activity != Activity::GarbageCollection;
}

/// Explains that few processes are outside of communication while the others wait in it.
Explanation explain_busy_processes(const Scene& scene, const Positions& busy,
                                   const Positions& waiting) {
  Explanation out;
  out.features = {Feature::OutsideByStack};
  const auto same = [](const Position&) { return std::string(); };
  const PositionGroup few = group_by(busy, same).front();
  out.kind = std::ranges::all_of(busy, is_still) ? Kind::MissingRank : Kind::Straggler;
  // A rank whose log contains an exception is not a straggler.
  const bool has_raised = std::ranges::any_of(few.ranks(), [&](int rank) {
    const auto notes = scene.logs.notes.find(rank);
    return notes != scene.logs.notes.end() && notes->second.has_exception;
  });
  if (has_raised) out.kind = Kind::MissingRank;
  out.culprits = few.ranks();
  out.count = few.count;
  out.total = few.count + count_of(waiting);
  const bool are_few = few.count * 3 <= count_of(waiting);
  if (!are_few) out.add(Feature::CouldTurn);
  if (few.count > 1) out.add(Feature::SeveralRanks);
  if (out.culprits.empty() && busy.size() == 1 && few.count == 1) {
    if (const auto ordered = rank_by_process_order(scene.logs, busy.front())) {
      out.culprits = {ordered->rank};
      out.is_local_rank = ordered->rank == ordered->local_rank;
      out.add(Feature::Doubtful);
    }
  }
  add_places(few, out);
  out.stack = busy.front().stack;
  for (const PositionGroup& group :
       group_by(waiting, [](const Position& one) { return one.place; }))
    add_places(group, out);
  return out;
}

/// Finds ranks that broadcast from different roots, according to the arguments in their stacks.
bool add_roots(const Positions& waiting, Explanations& out) {
  Positions rooted;
  for (const Position& one : waiting) {
    if (!one.root.empty() && !one.ranks.empty()) rooted.push_back(one);
  }
  const auto groups = group_by(rooted, [](const Position& one) { return one.root; });
  if (groups.size() < 2) return false;
  Explanation one =
      explain_different_positions(groups, Kind::RootMismatch, Feature::RootsDiffer, false);
  if (one.has(Feature::Tie)) one.features = {Feature::StacksApart};
  out.push_back(std::move(one));
  return true;
}

/// Explains that all ranks wait, but not all at one place.
Explanation explain_many_positions(const std::vector<PositionGroup>& groups) {
  int rest = 0;
  bool has_transfers = false;
  for (const PositionGroup& group : groups) {
    if (&group != groups.data()) rest += group.count;
    has_transfers = has_transfers || std::ranges::any_of(group.positions, [](const Position* one) {
                      return one->is_transfer || one->activity == Activity::GroupCreation;
                    });
  }
  Explanation out;
  out.kind = Kind::DivergedControlFlow;
  out.features = {Feature::ElsewhereByStack};
  out.count = rest;
  out.total = rest + groups.front().count;
  if (rest * 3 <= groups.front().count && groups.size() == 2) {
    out.culprits = groups[1].ranks();
    add_places(groups[1], out);
    add_places(groups[0], out);
    return out;
  }
  out.features = {Feature::StacksApart};
  out.count = out.total = -1;
  // Halves of transfers are at different places in any pipeline.
  if (has_transfers) out.kind = Kind::Unknown;
  for (const PositionGroup& group : groups) add_places(group, out);
  return out;
}

/// Adds hypotheses from the stacks of processes.
void add_stacks(const Scene& scene, Explanations& out) {
  if (scene.has_dumps || scene.logs.stacks.empty()) return;
  Positions busy, waiting;
  for (const ProcessStack& stack : scene.logs.stacks) {
    Position one = position_of(stack);
    (is_waiting_for_ranks(stack.activity) ? waiting : busy).push_back(std::move(one));
  }
  const int few = count_of(busy);
  const int most = count_of(waiting);
  if (few + most < 2 || waiting.empty()) return;
  if (!busy.empty() && (few < most || (few + most == 2 && busy.size() == 1))) {
    out.push_back(explain_busy_processes(scene, busy, waiting));
    return;
  }
  auto groups = group_by(waiting, [](const Position& one) { return one.place; });
  if (!busy.empty()) {
    groups.push_back(group_by(busy, [](const Position&) { return std::string(); }).front());
    Explanation one = explain_many_positions(groups);
    one.kind = Kind::Unknown;
    one.culprits.clear();
    one.features = {Feature::StacksApart};
    out.push_back(std::move(one));
    return;
  }
  if (add_roots(waiting, out)) return;
  if (auto crossed = crossed_positions(scene.logs, waiting)) {
    out.push_back(*std::move(crossed));
    return;
  }
  if (groups.size() > 1) {
    out.push_back(explain_many_positions(groups));
    return;
  }
  if (auto differs = differing_number_text(scene.logs)) {
    Explanation one;
    one.kind = Kind::DivergedControlFlow;
    one.features = {Feature::StacksApart};
    one.what = *differs;
    add_places(groups.front(), one);
    one.missing.push_back({Need::What::Stacks});
    out.push_back(std::move(one));
    return;
  }
  // Only if all ranks of a job are in the same call is no rank at fault.
  const bool are_all = scene.logs.known_world > 0 && most >= scene.logs.known_world;
  Explanation one;
  // All ranks send, or all receive: no transfer has its other half.
  const bool is_half =
      are_all && std::ranges::all_of(waiting, [&](const Position& each) {
        return each.op == waiting.front().op && (each.op == "send" || each.op == "recv");
      });
  one.kind = is_half ? Kind::DeadlockCycle : are_all ? Kind::NetworkStall : Kind::Unknown;
  one.features = {are_all ? Feature::StacksTogether : Feature::StacksApart};
  one.count = most;
  one.total = scene.logs.known_world > 0 ? scene.logs.known_world : -1;
  add_places(groups.front(), one);
  if (!are_all) one.missing.push_back({Need::What::Stacks});
  out.push_back(std::move(one));
}

}  // namespace

void add_positions(const Scene& scene, Explanations& out) {
  add_checks(scene, out);
  add_last_lines(scene, out);
  add_stacks(scene, out);
}

}  // namespace ringside::hang
