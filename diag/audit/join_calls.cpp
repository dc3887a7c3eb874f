#include <algorithm>

#include "diag/audit/join_parts.h"

namespace ringside::audit {
namespace {

using Shards = std::vector<std::unique_ptr<Shard>>;
using Desyncs = std::vector<JobFacts::Desync>;

std::string text_of(const CallMark& call, const Shards& shards) {
  for (const auto& shard : shards) {
    const auto found = shard->call_texts.find(call.signature);
    if (found != shard->call_texts.end()) return found->second;
  }
  return {};
}

JobFacts::Desync desync_of(const CallsOfRank& rank, const CallMark& call, const CallMark& usual,
                           std::size_t number, const Shards& shards) {
  const std::string text = text_of(call, shards);
  return {rank.rank, rank.process,           number,
          text,      text_of(usual, shards), {call.place, rank.process, text}};
}

bool may_be_same(const CallMark* a, const CallMark* b) {
  return a->signature == b->signature || a->signature == kAnyCall || b->signature == kAnyCall;
}

/// The calls that a rank made while its counter had one value: one call, or the calls of a group.
using Run = std::vector<const CallMark*>;

/// Returns the first call of `run` that `other` has neither at this position nor later; nullptr: `run` equals `other`
/// with gaps.
const CallMark* stranger_in(const Run& run, const Run& other) {
  std::size_t at = 0;
  for (const CallMark* call : run) {
    while (at < other.size() && !may_be_same(call, other[at])) ++at;
    if (at == other.size()) return call;
    ++at;
  }
  return nullptr;
}

/// Returns the most frequent elements that are equal; in a tie, those of the first element.
template <typename T, typename Equal>
const T& usual_of(const std::vector<const T*>& all, const Equal& is_equal) {
  std::vector<std::pair<const T*, std::size_t>> kinds;  // few
  for (const T* one : all) {
    auto kind = std::find_if(kinds.begin(), kinds.end(),
                             [&](const auto& known) { return is_equal(*known.first, *one); });
    if (kind == kinds.end()) kind = kinds.insert(kinds.end(), {one, 0});
    ++kind->second;
  }
  return *std::max_element(kinds.begin(), kinds.end(), [](const auto& a, const auto& b) {
            return a.second < b.second;
          })->first;
}

/// A rank's position in its calls.
struct Caller {
  const CallsOfRank* calls = nullptr;
  CallWalk walk;
  std::uint32_t first = 0;  ///< the value of its counter at its first call
  std::size_t lost = 0;     ///< rounds in which its line is missing

  [[nodiscard]] const CallMark* now() const { return walk.now(); }
  [[nodiscard]] std::uint32_t count() const { return now()->op_count - first; }
};

/// Returns whether the counter is usable: it never decreases, and does not stay constant over all of the rank's lines.
bool does_count(CallWalk walk) {
  const std::uint32_t first = walk.now()->op_count;
  std::uint32_t last = first;
  std::size_t calls = 0;
  for (; walk.now() != nullptr; walk.advance(), ++calls) {
    if (walk.now()->op_count < last) return false;
    last = walk.now()->op_count;
  }
  return calls < 2 || last != first;
}

enum class By : std::uint8_t { Counter, Number };

/// Removes ranks without further calls, and skips the next calls as long as they are equal on all ranks.
/// number   index of the next call; increased by the number of skipped calls
/// returns  false: fewer than two ranks are left
bool skip_equal_calls(std::vector<Caller>& callers, By by, std::size_t& number) {
  std::erase_if(callers, [](const Caller& caller) { return caller.now() == nullptr; });
  while (callers.size() > 1) {
    const Caller& first = callers.front();
    const bool is_alike = std::all_of(callers.begin(), callers.end(), [&](const Caller& caller) {
      return caller.now()->signature == first.now()->signature && caller.lost == 0 &&
             (by == By::Number || caller.count() == first.count());
    });
    if (!is_alike) return true;
    ++number;
    bool is_end = false;
    for (Caller& caller : callers) {
      caller.walk.advance();
      is_end = is_end || caller.now() == nullptr;
    }
    if (is_end) {
      std::erase_if(callers, [](const Caller& caller) { return caller.now() == nullptr; });
    }
  }
  return false;
}

/// Compares the ranks' runs, matched by their counters.
Desyncs compare_by_counter(std::vector<Caller> callers, const Shards& shards) {
  for (std::size_t number = 0; skip_equal_calls(callers, By::Counter, number);) {
    const std::uint32_t count =
        std::min_element(callers.begin(), callers.end(), [](const Caller& a, const Caller& b) {
          return a.count() < b.count();
        })->count();
    std::vector<Run> runs(callers.size());
    std::vector<const Run*> here;
    for (std::size_t i = 0; i < callers.size(); ++i) {
      CallWalk& walk = callers[i].walk;
      for (; walk.now() != nullptr && callers[i].count() == count; walk.advance()) {
        runs[i].push_back(walk.now());
      }
      if (!runs[i].empty()) here.push_back(&runs[i]);
    }
    const Run& usual = usual_of(here, [](const Run& a, const Run& b) {
      return std::equal(a.begin(), a.end(), b.begin(), b.end(), may_be_same);
    });
    Desyncs desyncs;
    for (std::size_t i = 0; i < callers.size(); ++i) {
      const Run& run = runs[i];
      const CallMark* const stranger = stranger_in(run, usual);
      if (stranger == nullptr || stranger_in(usual, run) == nullptr) continue;
      const auto at = std::find(run.begin(), run.end(), stranger) - run.begin();
      const auto turn = std::min(static_cast<std::size_t>(at), usual.size() - 1);
      desyncs.push_back(
          desync_of(*callers[i].calls, *stranger, *usual[turn], number + turn, shards));
    }
    if (!desyncs.empty()) return desyncs;
    number += usual.size();
  }
  return {};
}

/// Returns how many calls are missing in `walk` so that it continues like `other`; 0: it does not.
std::size_t holes_before(const CallWalk& walk, const CallWalk& other) {
  constexpr std::size_t kMostLost =
      256;                      // lines lost in one place; limits the time of a comparison
  constexpr int kLookedAt = 8;  // calls that must agree after the hole
  CallWalk from = other;
  for (std::size_t lost = 1; lost <= kMostLost; ++lost) {
    from.advance();
    if (from.now() == nullptr) return 0;
    CallWalk mine = walk, theirs = from;
    int same = 0;
    while (same < kLookedAt && mine.now() != nullptr && theirs.now() != nullptr &&
           may_be_same(mine.now(), theirs.now())) {
      mine.advance();
      theirs.advance();
      ++same;
    }
    const bool is_end = mine.now() == nullptr || theirs.now() == nullptr;
    if (same == kLookedAt || (is_end && same > 0)) return lost;
  }
  return 0;
}

/// Compares the ranks' calls, matched by their number.
Desyncs compare_by_number(std::vector<Caller> callers, const Shards& shards) {
  for (std::size_t number = 0; skip_equal_calls(callers, By::Number, number); ++number) {
    std::vector<Caller*> present;
    std::vector<const CallMark*> here;
    for (Caller& caller : callers) {
      if (caller.lost > 0) {
        --caller.lost;
        continue;
      }
      present.push_back(&caller);
      here.push_back(caller.now());
    }
    if (present.empty()) continue;
    const CallMark& usual =
        usual_of(here, [](const CallMark& a, const CallMark& b) { return may_be_same(&a, &b); });
    const auto is_usual = [&](const Caller* caller) { return may_be_same(caller->now(), &usual); };
    Caller& model = **std::find_if(present.begin(), present.end(), is_usual);
    const bool is_alone = std::count_if(present.begin(), present.end(), is_usual) == 1;
    Desyncs desyncs;
    for (Caller* caller : present) {
      if (is_usual(caller)) continue;
      if (const std::size_t holes = holes_before(caller->walk, model.walk); holes > 0) {
        caller->lost = holes;
      } else if (const std::size_t back = is_alone ? holes_before(model.walk, caller->walk) : 0;
                 back > 0) {
        model.lost = back;
      } else {
        desyncs.push_back(desync_of(*caller->calls, *caller->now(), usual, number, shards));
      }
    }
    if (!desyncs.empty()) return desyncs;
    for (Caller* caller : present) {
      if (caller->lost == 0) {
        caller->walk.advance();
      } else {
        --caller->lost;
      }
    }
  }
  return {};
}

/// Lines between the collectives are sends, whose number differs between ranks and shifts the counters.
bool has_other_calls(const CallsOfRank& calls, const Shards& shards) {
  return std::any_of(calls.pieces.begin(), calls.pieces.end(), [&](const auto& piece) {
    const CommPart& part = shards[piece.first]->parts[piece.second];
    return part.ncalls != part.calls.count;
  });
}

}  // namespace

std::vector<JobFacts::Desync> compare_calls(const std::vector<CallsOfRank>& calls,
                                            const std::vector<std::unique_ptr<Shard>>& shards,
                                            CallOrder& order) {
  if (calls.size() < 2) return {};
  // In most jobs all ranks make the same calls, and there is nothing to compare.
  const CallSum one = sum_of(calls.front(), shards);
  if (std::all_of(calls.begin(), calls.end(),
                  [&](const CallsOfRank& rank) { return sum_of(rank, shards) == one; })) {
    return {};
  }
  order.make(shards);
  std::vector<Caller> callers;
  for (const CallsOfRank& rank : calls) {
    Caller caller{.calls = &rank, .walk = CallWalk(rank, order)};
    if (caller.now() != nullptr) callers.push_back(caller);
  }
  const bool is_counted = std::all_of(callers.begin(), callers.end(), [&](const Caller& caller) {
    return does_count(caller.walk) && !has_other_calls(*caller.calls, shards);
  });
  if (!is_counted) return compare_by_number(callers, shards);
  Desyncs desyncs = compare_by_counter(callers, shards);
  // Ranks that begin with different counter values have lost their first lines, or started to count later.
  for (Caller& caller : callers) caller.first = caller.now()->op_count;
  const bool is_doubtful = std::any_of(callers.begin(), callers.end(), [&](const Caller& caller) {
    return caller.first != callers.front().first;
  });
  if (is_doubtful && compare_by_counter(callers, shards).empty()) desyncs.clear();
  return desyncs;
}

}  // namespace ringside::audit
