#include "diag/hangdetect/verdict/compare_stacks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "diag/hangdetect/verdict/call_names.h"

namespace ringside::hang {
namespace {

/// The stack of one or several ranks.
struct RanksStack {
  std::vector<int> ranks;
  const Stack* frames = nullptr;
};

/// Returns the frames of the oldest call that the rank's dump shows as pending; nullptr: none are recorded.
const Stack* pending_stack(const Job& job, int rank) {
  const RankDump* dump = job.rank(rank).dump;
  if (dump == nullptr) return nullptr;
  const auto call = std::ranges::find_if(dump->calls, &Call::is_pending);
  if (call == dump->calls.end() || job.names().stack(call->stack).empty()) return nullptr;
  return &job.names().stack(call->stack);
}

std::vector<RanksStack> pending_stacks(const Job& job) {
  std::vector<RanksStack> all;
  for (int rank = 0; rank < job.world(); ++rank) {
    if (const Stack* frames = pending_stack(job, rank)) all.push_back({{rank}, frames});
  }
  return all;
}

std::vector<RanksStack> process_stacks(const LogFacts& logs) {
  std::vector<RanksStack> all;
  for (const ProcessStack& one : logs.stacks) {
    if (!one.ranks.empty() && !one.frames.empty()) all.push_back({one.ranks, &one.frames});
  }
  return all;
}

/// Returns the number of outermost frames that both share.
std::size_t shared_frames(const Stack& a, const Stack& b) {
  const auto at = std::mismatch(a.rbegin(), a.rend(), b.rbegin(), b.rend());
  return static_cast<std::size_t>(at.first - a.rbegin());
}

/// Returns the frame behind the `outer` outermost ones; nullptr: the stack ends there.
const Frame* frame_behind(const Stack& stack, std::size_t outer) {
  return outer < stack.size() ? &stack[stack.size() - 1 - outer] : nullptr;
}

std::optional<ComparedStacks> compared(const std::vector<int>& culprits,
                                       const std::vector<RanksStack>& stacks) {
  const auto has_culprit = [&](const RanksStack& one) {
    return std::ranges::find_first_of(one.ranks, culprits) != one.ranks.end();
  };
  const auto own = std::ranges::find_if(stacks, has_culprit);
  if (own == stacks.end()) return std::nullopt;
  const Stack& mine = *own->frames;
  // Where the other stacks part: the outermost frames that they share with the culprit's, and the next one.
  std::map<std::tuple<std::size_t, std::string, std::string, std::int64_t>, RanksStack> places;
  ComparedStacks out;
  for (const RanksStack& one : stacks) {
    if (has_culprit(one)) continue;
    const std::size_t shared = shared_frames(mine, *one.frames);
    const Frame* next = frame_behind(*one.frames, shared);
    const Frame place = next == nullptr ? Frame{} : *next;
    RanksStack& like = places[{shared, place.function, place.file, place.line}];
    like.frames = one.frames;
    like.ranks.insert(like.ranks.end(), one.ranks.begin(), one.ranks.end());
    out.others.insert(out.others.end(), one.ranks.begin(), one.ranks.end());
  }
  const auto most =
      std::ranges::max_element(places, {}, [](const auto& one) { return one.second.ranks.size(); });
  if (most == places.end()) return std::nullopt;
  std::ranges::sort(out.others);
  auto& [ranks, frames] = most->second;
  if (ranks.size() * 2 <= out.others.size()) return out;
  const std::size_t shared = std::get<0>(most->first);
  const Frame* frame = frame_behind(mine, shared);
  const Frame* other = frame_behind(*frames, shared);
  out.are_equal = frame == nullptr && other == nullptr;
  if (frame == nullptr || other == nullptr) return out;
  // Without a shared caller, both must at least be lines of one function: `<module>` of the script.
  if (shared == 0 && (frame->function != other->function || frame->file != other->file)) return out;
  std::ranges::sort(ranks);
  Parting parting{{}, *frame, ranks, *other};
  for (const RanksStack& one : stacks) {
    if (!has_culprit(one) || *one.frames != mine) continue;
    parting.ranks.insert(parting.ranks.end(), one.ranks.begin(), one.ranks.end());
  }
  std::ranges::sort(parting.ranks);
  out.parting = std::move(parting);
  return out;
}

/// Returns the places in the rank's dump of the calls that it made with these frames, ascending.
std::vector<std::size_t> calls_from(const Job& job, int rank, const Stack& stack) {
  std::vector<std::size_t> places;
  if (rank < 0 || rank >= job.world() || job.rank(rank).dump == nullptr) return places;
  // Ranks have millions of calls and few stacks.
  std::map<std::uint32_t, bool> is_same;
  const std::vector<Call>& calls = job.rank(rank).dump->calls;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const auto [known, is_new] = is_same.try_emplace(calls[i].stack, false);
    if (is_new) known->second = job.names().stack(calls[i].stack) == stack;
    if (known->second) places.push_back(i);
  }
  return places;
}

/// Returns `rank 3`, with the call of that stack if it is not pending: the rank is not there any more.
std::string owner_with_call(const Job& job, int rank, const std::vector<std::size_t>& places,
                            const std::string& wanted) {
  const RankView& view = job.rank(rank);
  const std::vector<Call>& calls = view.dump->calls;
  std::string who = fmt::format("rank {}", rank);
  const auto title = [&](std::size_t i) {
    return view.group_of_call[i] < 0 ? std::string()
                                     : call_title(job, view.group_of_call[i], calls[i]);
  };
  std::size_t shown = places.back();
  for (const std::size_t i : places) {
    if (calls[i].state != CallState::Completed) return who;
    if (title(i) == wanted) shown = i;
  }
  const std::string call = title(shown);
  if (call.empty()) return who;
  return fmt::format("{} at {}{}, which has ended", who,
                     shown + 1 == calls.size() ? "its last call, " : "", call);
}

}  // namespace

std::optional<ComparedStacks> compare_stacks(const Explanation& one, const Job& job,
                                             const LogFacts& logs) {
  if (auto by_process = compared(one.culprits, process_stacks(logs))) return by_process;
  std::vector<RanksStack> pending = pending_stacks(job);
  if (auto by_dumps = compared(one.culprits, pending)) return by_dumps;
  // The call of a culprit that only sends its data has ended, though the others still wait in theirs.
  if (one.ground() != Feature::CallsDiffer) return std::nullopt;
  for (const int rank : one.culprits) {
    if (!one.is_local_rank && !one.stack.empty() && !calls_from(job, rank, one.stack).empty())
      pending.push_back({{rank}, &one.stack});
  }
  return compared(one.culprits, pending);
}

std::string owner_of_stack(const Explanation& one, const Job& job, const LogFacts& logs) {
  const auto named = [](int rank) { return fmt::format("rank {}", rank); };
  for (const int rank : one.culprits) {
    const std::vector<std::size_t> places = calls_from(job, rank, one.stack);
    if (!one.is_local_rank && !places.empty()) return owner_with_call(job, rank, places, one.call);
  }
  for (const ProcessStack& process : logs.stacks) {
    if (process.frames == one.stack) return process.who();
  }
  for (int rank = 0; rank < job.world(); ++rank) {
    const Stack* pending = pending_stack(job, rank);
    if (pending != nullptr && *pending == one.stack) return named(rank);
  }
  return {};
}

}  // namespace ringside::hang
