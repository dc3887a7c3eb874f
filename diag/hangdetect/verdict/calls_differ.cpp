#include <algorithm>
#include <optional>
#include <utility>

#include "diag/hangdetect/verdict/call_names.h"
#include "diag/hangdetect/verdict/compare.h"
#include "diag/hangdetect/verdict/scene.h"

namespace ringside::hang {
namespace {

std::size_t index_of(const RankDump& dump, const Call* call) {
  return static_cast<std::size_t>(call - dump.calls.data());
}

/// One front, and the calls that its members made there.
struct Meeting {
  const Scene& scene;
  const Front& front;

  [[nodiscard]] const Call* call(int rank, int later = 0) const {
    return scene.job.find(rank, front.group, front.sequence + static_cast<std::uint32_t>(later));
  }
  [[nodiscard]] const Signature& signature(const Side& side) const {
    return scene.job.names().signature(side.signature);
  }
};

/// Returns how usual this side's call is for its ranks, judged by their earlier calls: the mean of the ranks for which
/// that is known.
std::optional<double> usual_of(const Meeting& at, const Side& side) {
  double sum = 0;
  int known = 0;
  for (const int rank : side.ranks) {
    const auto usual =
        at.scene.habits.usual(rank, index_of(*at.scene.job.rank(rank).dump, at.call(rank)));
    if (!usual) continue;
    sum += *usual;
    ++known;
  }
  return known > 0 ? std::optional(sum / known) : std::nullopt;
}

/// Returns how often members of the group have made exactly this call before.
int times_before(const Meeting& at, const Side& side) {
  int times = 0;
  for (const int rank : at.front.entered) {
    const GroupCalls* mine = at.scene.job.calls(rank, at.front.group);
    if (mine == nullptr) continue;
    for (const std::uint32_t index : mine->collectives) {
      const Call& call = at.scene.job.rank(rank).dump->calls[index];
      times += call.sequence < at.front.sequence && call.signature == side.signature ? 1 : 0;
    }
  }
  return times;
}

/// Returns the usual one of two sides with equally many ranks; null if nothing shows it. Exact calls of the group
/// distinguish sizes of an all-to-all, which habits treat as equal.
const Side* usual_side(const Meeting& at, const std::vector<Side>& sides) {
  // Chosen so that a call that follows in every second step counts. If one side's habit is unknown, the other side's
  // decides only if its call is rare: below 0.5 / 3.
  constexpr double kUnknown = 0.5, kUsual = 0.3, kMuchMore = 3;
  constexpr int kOften = 3;  // once or twice may be the calls of a start or an end
  const double first = usual_of(at, sides[0]).value_or(kUnknown);
  const double second = usual_of(at, sides[1]).value_or(kUnknown);
  const double more = std::max(first, second);
  if (more > kUsual && more > kMuchMore * std::min(first, second)) {
    return &sides[second > first ? 1 : 0];
  }
  if (sides.size() > 2) return nullptr;
  const int firsts = times_before(at, sides[0]);
  const int seconds = times_before(at, sides[1]);
  if (firsts >= kOften && seconds == 0) return sides.data();
  if (seconds >= kOften && firsts == 0) return &sides[1];
  return nullptr;
}

/// Returns whether one side should have made the other side's call: the next call of the majority is the current call
/// of the minority (they skipped one), or the minority repeats the majority's previous call (one too many).
bool is_out_of_step(const Meeting& at, const Side& many, const Side& few) {
  const int rank = many.ranks.front();
  const GroupCalls* mine = at.scene.job.calls(rank, at.front.group);
  const std::vector<Call>& calls = at.scene.job.rank(rank).dump->calls;
  const auto likeness = [&](std::size_t i) {
    return likeness_of(at.scene.job.signature(calls[mine->collectives[i]]));
  };
  const std::uint64_t due = likeness_of(at.scene.job.signature(*at.call(rank)));
  const std::uint64_t other = likeness_of(at.signature(few));
  if (due == other) return false;  // the calls do not differ in order
  // Looks in the same group for such a call right before or after, in this round or in earlier ones.
  for (std::size_t i = 0; i < mine->collectives.size(); ++i) {
    if (likeness(i) != due) continue;
    if (i > 0 && likeness(i - 1) == other) return true;
    if (i + 1 < mine->collectives.size() && likeness(i + 1) == other) return true;
  }
  return false;
}

/// Returns whether two calls are swapped: the minority's next call is the majority's current one, and its current call
/// is the majority's next, as far as the calls are known. The minority's next call must be known, because skipping a
/// call looks the same without it.
bool is_swapped(const Meeting& at, const Side& many, const Side& few) {
  const auto is_other = [&](const Call* call, const Side& other) {
    if (call == nullptr) return std::optional<bool>();
    return std::optional(difference_of(at.scene.job.signature(*call), at.signature(other)) ==
                         Difference::None);
  };
  const int one_of_many = many.ranks.front();
  const int one_of_few = few.ranks.front();
  // A pending call may be the second of the two.
  const bool were_swapped = at.front.sequence > 0 &&
                            is_other(at.call(one_of_few, -1), many).value_or(false) &&
                            is_other(at.call(one_of_many, -1), few).value_or(false);
  return were_swapped || (is_other(at.call(one_of_few, 1), many).value_or(false) &&
                          is_other(at.call(one_of_many, 1), few).value_or(true));
}

/// By log lines alone: one side reduces a single number, such as a flag or a loss, and the other a bucket. These are
/// two calls of the program, not one call with a wrong size.
bool are_other_calls(const Meeting& at, const Side& many, const Side& few) {
  if (!at.scene.job.rank(many.ranks.front()).is_from_log) return false;
  constexpr std::uint64_t kBucket = 1000;  // elements. Chosen: tensors of parameters have more
  const std::uint64_t a = at.signature(many).input_count;
  const std::uint64_t b = at.signature(few).input_count;
  return std::min(a, b) == 1 && std::max(a, b) >= kBucket;
}

Kind kind_of(const Meeting& at, const Side& many, const Side& few) {
  const Difference difference = difference_of(at.signature(many), at.signature(few));
  if (difference == Difference::Type) return Kind::DtypeMismatch;
  if (difference == Difference::Root) return Kind::RootMismatch;
  // A size that no rank uses in a neighbouring call is a wrong size rather than a call out of order.
  if (is_out_of_step(at, many, few))
    return is_swapped(at, many, few) ? Kind::OrderMismatch : Kind::DivergedControlFlow;
  if (difference == Difference::Op) return Kind::OpMismatch;
  return are_other_calls(at, many, few) ? Kind::DivergedControlFlow : Kind::ShapeMismatch;
}

std::optional<Explanation> mismatch_at(const Scene& scene, const Front& front, Feature ground) {
  const std::vector<Side> sides = sides_of(scene.job, front);
  if (sides.size() < 2) return std::nullopt;
  const Meeting at{scene, front};
  const bool is_tie = sides[1].ranks.size() == sides[0].ranks.size();
  const Side* usual = is_tie ? usual_side(at, sides) : nullptr;
  const Side& many = usual != nullptr ? *usual : sides.front();
  const Side* few = nullptr;
  Explanation out;
  out.features = {ground};
  std::vector<int> odd;
  for (const Side& side : sides) {
    if (&side == &many) {
      if (is_tie && usual == nullptr) odd.insert(odd.end(), side.ranks.begin(), side.ranks.end());
      continue;
    }
    if (few == nullptr) few = &side;
    odd.insert(odd.end(), side.ranks.begin(), side.ranks.end());
  }
  std::sort(odd.begin(), odd.end());
  out.kind = kind_of(at, many, *few);
  out.call = call_title(scene.job, front.group, *at.call(many.ranks.front()));
  out.stack = scene.job.names().stack(at.call(few->ranks.front())->stack);
  for (const Side& side : sides) {
    const int rank = side.ranks.front();
    const std::string text = call_text(at.signature(side));
    RanksAt place{side.ranks, "", text};
    out.places.insert(&side == few ? out.places.begin() : out.places.end(), std::move(place));
    out.evidence.push_back(evidence_of(scene.job, rank, *at.call(rank), text));
  }
  // With one rank on each side there is no culprit, unless earlier calls show which call is usual, or both ranks must
  // change their order.
  const bool are_both = is_tie && out.kind == Kind::OrderMismatch && odd.size() == 2;
  const bool is_open = is_tie && usual == nullptr && !are_both;
  (is_open ? out.suspects : out.culprits) = std::move(odd);
  if (is_tie) {
    out.add(are_both ? Feature::SeveralRanks : Feature::Tie);
    out.missing.push_back({Need::What::Sources});
  }
  if (usual != nullptr) out.add(Feature::ByHabit);
  if (sides.size() > 2) out.add(Feature::ManySides);
  // Ranks whose dump is lost may belong to the smaller side: that side counts as the smaller one unless they could
  // make it a majority.
  const std::size_t unseen = front.unseen.size();
  if (unseen > 0 && !is_tie && unseen + few->ranks.size() > many.ranks.size())
    out.add(Feature::CouldTurn);
  return out;
}

}  // namespace

void add_mismatches(const Scene& scene, Explanations& out) {
  for (const Front& front : scene.wait_state.fronts) {
    if (auto one = mismatch_at(scene, front, Feature::CallsDiffer)) out.push_back(*std::move(one));
  }
}

void add_line_mismatches(const Scene& scene, Explanations& out) {
  const bool are_stated = scene.logs.lines_as_dumps.empty();
  // Lines can be compared with each other without a dump that shows their groups.
  std::vector<RankDump> dumps = are_stated ? scene.logs.stated_calls : scene.logs.lines_as_dumps;
  if (dumps.size() < 2) return;
  for (RankDump& dump : dumps) dump.is_newest_lost = false;
  const Job lines(scene.job.names(), dumps, {}, scene.logs.world);
  // Lines do not show what ended, so every call is compared: in each group the first call in which members differ
  // counts.
  WaitState differences;
  for (std::size_t group = 0; group < lines.groups().size(); ++group) {
    if (auto front = first_difference(lines, static_cast<int>(group)))
      differences.fronts.push_back(*std::move(front));
  }
  const Habits habits(lines);
  const Scene of_lines{lines, differences, habits, scene.facts, scene.logs};
  for (const Front& front : differences.fronts) {
    auto one = mismatch_at(of_lines, front, Feature::CallLinesDiffer);
    if (one && !one->culprits.empty()) out.push_back(*std::move(one));
  }
}

}  // namespace ringside::hang
