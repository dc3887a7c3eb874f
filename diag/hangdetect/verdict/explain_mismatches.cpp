#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "diag/hangdetect/verdict/compare.h"
#include "diag/hangdetect/verdict/confidence.h"
#include "diag/hangdetect/verdict/explain.h"

namespace ringside::hang {
namespace {

std::size_t index_of(const RankDump& dump, const Call* call) {
  return static_cast<std::size_t>(call - dump.calls.data());
}

/// How usual this side's call is for its ranks, by what they called before.
std::optional<double> usual_of(const Scene& scene, const Front& front, const Side& side) {
  std::optional<double> sum;
  for (const int rank : side.ranks) {
    const Call* call = scene.job.find(rank, front.group, front.sequence);
    const auto usual = scene.habits.usual(rank, index_of(*scene.job.rank(rank).dump, call));
    if (usual) sum = sum.value_or(0) + *usual / static_cast<double>(side.ranks.size());
  }
  return sum;
}

/// How often members of the group have made exactly this side's call before.
int times_before(const Scene& scene, const Front& front, const Side& side) {
  int times = 0;
  for (const int rank : front.entered) {
    const GroupCalls* mine = scene.job.calls(rank, front.group);
    if (mine == nullptr) continue;
    for (const std::uint32_t index : mine->collectives) {
      const Call& call = scene.job.rank(rank).dump->calls[index];
      times += call.sequence < front.sequence && call.signature == side.signature ? 1 : 0;
    }
  }
  return times;
}

/// Of two sides, the one whose call the group knows, where it has never made the other's; else null. Tells sizes of an
/// all-to-all apart, which habits take for alike.
const Side* known_of(const Scene& scene, const Front& front, const Side& first,
                     const Side& second) {
  constexpr int kOften = 3;
  const int a = times_before(scene, front, first);
  const int b = times_before(scene, front, second);
  if (a >= kOften && b == 0) return &first;
  if (b >= kOften && a == 0) return &second;
  return nullptr;
}

/// A call that one side should have made and the other made: what comes next for the many is what the
/// few are at (they left one out), or the few do again what the many have just done (one too many).
bool is_out_of_step(const Scene& scene, const Front& front, const Side& many, const Side& few) {
  const int rank = many.ranks.front();
  const Call* call = scene.job.find(rank, front.group, front.sequence);
  const Signature& theirs = scene.job.names().signature(few.signature);
  // In the group itself: is there such a call right before or after, in this round or in earlier ones?
  const GroupCalls* mine = scene.job.calls(rank, front.group);
  const std::vector<Call>& calls = scene.job.rank(rank).dump->calls;
  const std::uint64_t due = likeness_of(scene.job.signature(*call));
  const std::uint64_t other = likeness_of(theirs);
  if (due == other) return false;  // they differ in what a place in the order does not show
  for (std::size_t i = 0; i < mine->collectives.size(); ++i) {
    if (likeness_of(scene.job.signature(calls[mine->collectives[i]])) != due) continue;
    for (const std::size_t beside : {i - 1, i + 1}) {
      if (beside >= mine->collectives.size()) continue;
      if (likeness_of(scene.job.signature(calls[mine->collectives[beside]])) == other) return true;
    }
  }
  return false;
}

/// The few make at the next number what the many make now, and now what the many make next: both as far as they are known, and
/// what the few make next always. Without it a call that the few left out leaves the same.
bool is_swapped(const Scene& scene, const Front& front, const Side& many, const Side& few) {
  const Names& names = scene.job.names();
  const auto next_is = [&](const Side& side, const Side& other) {
    const Call* next = scene.job.find(side.ranks.front(), front.group, front.sequence + 1);
    if (next == nullptr) return std::optional<bool>();
    return std::optional(difference_of(scene.job.signature(*next),
                                       names.signature(other.signature)) == Difference::None);
  };
  return next_is(few, many).value_or(false) && next_is(many, few).value_or(true);
}

/// By lines of logs alone: one side reduces one number, a flag or a loss, and the other a bucket. These are two calls of
/// the program, and no call of a wrong size.
bool are_other_calls(const Scene& scene, const Side& many, const Side& few) {
  if (!scene.job.rank(many.ranks.front()).is_from_log) return false;
  constexpr std::uint64_t kBucket = 1000;
  const std::uint64_t a = scene.job.names().signature(many.signature).input_count;
  const std::uint64_t b = scene.job.names().signature(few.signature).input_count;
  return std::min(a, b) == 1 && std::max(a, b) >= kBucket;
}

Kind kind_of(const Scene& scene, const Front& front, const Side& many, const Side& few,
             Difference difference) {
  if (difference == Difference::Type) return Kind::DtypeMismatch;
  if (difference == Difference::Root) return Kind::RootMismatch;
  // A size that nobody uses beside it is a wrong size, not a call out of its place.
  if (is_out_of_step(scene, front, many, few)) {
    return is_swapped(scene, front, many, few) ? Kind::OrderMismatch : Kind::DivergedControlFlow;
  }
  if (difference == Difference::Op) return Kind::OpMismatch;
  return are_other_calls(scene, many, few) ? Kind::DivergedControlFlow : Kind::ShapeMismatch;
}

void describe(const Scene& scene, const Front& front, const std::vector<Side>& sides,
              Explanation& out) {
  for (const Side& side : sides) {
    out.details.push_back(fmt::format("{} called {}", ranks_text(side.ranks),
                                      call_text(scene.job.names().signature(side.signature))));
    const int rank = side.ranks.front();
    const Call* call = scene.job.find(rank, front.group, front.sequence);
    out.evidence.push_back(
        evidence_of(scene.job, rank, *call, call_text(scene.job.signature(*call))));
  }
}

std::string reason(Kind kind, const std::string& who, const std::string& call) {
  switch (kind) {
    case Kind::DtypeMismatch:
      return fmt::format("{} gave another data type to {}", who, call);
    case Kind::ShapeMismatch:
      return fmt::format("{} gave another size to {}", who, call);
    case Kind::RootMismatch:
      return fmt::format("{} named another root in {}", who, call);
    case Kind::OrderMismatch:
      return fmt::format("{} made the calls around {} in another order", who, call);
    case Kind::DivergedControlFlow:
      return fmt::format("{} left the common sequence before {}: a call too many or too few", who,
                         call);
    default:
      return fmt::format("{} called something else at {}", who, call);
  }
}

std::optional<Explanation> explain_front(const Scene& scene, const Front& front) {
  const std::vector<Side> sides = sides_of(scene.job, front);
  if (sides.size() < 2) return std::nullopt;
  const Names& names = scene.job.names();
  const Side* many = &sides.front();
  const bool is_tie = sides[1].ranks.size() == sides[0].ranks.size();
  Explanation out;
  out.confidence = is_tie ? confidence::kMismatchTie : confidence::kMismatch;
  std::vector<int> few;
  bool by_habit = false;
  if (is_tie) {
    const auto first = usual_of(scene, front, sides[0]);
    const auto second = usual_of(scene, front, sides[1]);
    const double a = first.value_or(0.5);
    const double b = second.value_or(0.5);
    by_habit = std::max(a, b) > 0.3 && std::max(a, b) > 3 * std::min(a, b);
    if (by_habit && b > a) many = &sides[1];
    const Side* const known =
        by_habit || sides.size() > 2 ? nullptr : known_of(scene, front, sides[0], sides[1]);
    if (known != nullptr) {
      by_habit = true;
      many = known;
    }
  }
  const Side* odd = nullptr;
  for (const Side& side : sides) {
    if (&side == many && (!is_tie || by_habit)) continue;
    if (odd == nullptr && &side != many) odd = &side;
    few.insert(few.end(), side.ranks.begin(), side.ranks.end());
  }
  std::sort(few.begin(), few.end());
  out.culprits = std::move(few);
  Difference difference =
      difference_of(names.signature(many->signature), names.signature(odd->signature));
  if (difference == Difference::None) difference = Difference::Size;  // of an even all-to-all
  out.kind = kind_of(scene, front, *many, *odd, difference);
  const Call* call = scene.job.find(many->ranks.front(), front.group, front.sequence);
  out.call = call_title(scene.job, front.group, *call);
  const Call* own = scene.job.find(odd->ranks.front(), front.group, front.sequence);
  out.stack = names.stack(own->stack);
  out.why = reason(out.kind, ranks_text(out.culprits), out.call);
  describe(scene, front, sides, out);
  if (by_habit) {
    out.confidence = confidence::kMismatchByHabit;
    out.why += "; as many stand on each side, and what they called before tells which is usual";
  } else if (is_tie) {
    out.why = fmt::format("{} disagree at {}, and neither side is a majority",
                          ranks_text(out.culprits), out.call);
  }
  if (sides.size() > 2) out.confidence -= 0.1;
  if (!front.unseen.empty() && !is_tie) {
    // Those whose dump is lost may be on the smaller side: they do not turn it into the larger one
    // unless they could be a majority.
    const bool could_turn = front.unseen.size() + odd->ranks.size() > many->ranks.size();
    if (could_turn) out.confidence -= 0.15;
  }
  if (is_tie) {
    out.missing.push_back(
        "which of the two was right: the source of both stacks, or a third member");
  }
  return out;
}

}  // namespace

std::vector<Explanation> explain_mismatches(const Scene& scene) {
  std::vector<Explanation> found;
  for (const Front& front : scene.standing.fronts) {
    if (auto one = explain_front(scene, front)) found.push_back(*std::move(one));
  }
  return found;
}

}  // namespace ringside::hang
