#include "diag/audit/join_calls.h"

#include <algorithm>
#include <map>

namespace ringside::audit {
namespace {

/// Walks a rank's calls over the pieces of its part.
class Walk {
 public:
  Walk(const CallsOfRank& calls, const std::vector<std::unique_ptr<Shard>>& shards)
      : calls_(calls), shards_(shards) {
    settle();
  }
  [[nodiscard]] const CallMark* now() const {
    return at_ == kNone ? nullptr : &shards_[calls_.pieces[piece_].first]->calls[at_];
  }
  [[nodiscard]] const Shard& shard() const { return *shards_[calls_.pieces[piece_].first]; }
  void advance() {
    at_ = now()->next;
    if (at_ != kNone) return;
    ++piece_;
    settle();
  }

 private:
  void settle() {
    for (at_ = kNone; piece_ < calls_.pieces.size(); ++piece_) {
      const auto [shard, part] = calls_.pieces[piece_];
      at_ = shards_[shard]->parts[part].first_call;
      if (at_ != kNone) return;
    }
  }
  const CallsOfRank& calls_;
  const std::vector<std::unique_ptr<Shard>>& shards_;
  std::size_t piece_ = 0;
  std::uint32_t at_ = kNone;
};

CallSum sum_of(const CallsOfRank& calls, const std::vector<std::unique_ptr<Shard>>& shards) {
  CallSum sum;
  for (const auto& [shard, part] : calls.pieces) {
    if (part < shards[shard]->call_sums.size()) sum.append(shards[shard]->call_sums[part]);
  }
  return sum;
}

std::string text_of(const Walk& walk) {
  const auto found = walk.shard().call_texts.find(walk.now()->signature);
  return found == walk.shard().call_texts.end() ? std::string() : found->second;
}

}  // namespace

void compare_calls(const std::vector<CallsOfRank>& calls,
                   const std::vector<std::unique_ptr<Shard>>& shards, JobFacts& facts) {
  if (calls.size() < 2) return;
  // Most jobs call alike: then there is nothing to walk.
  const CallSum one = sum_of(calls.front(), shards);
  if (std::all_of(calls.begin(), calls.end(),
                  [&](const CallsOfRank& rank) { return sum_of(rank, shards) == one; })) {
    return;
  }
  std::vector<Walk> walks;
  for (const CallsOfRank& rank : calls) walks.emplace_back(rank, shards);
  const auto has_call = [](const Walk& walk) { return walk.now() != nullptr; };
  for (std::size_t call = 0; std::all_of(walks.begin(), walks.end(), has_call); ++call) {
    const std::uint32_t first = walks.front().now()->signature;
    const bool is_equal = std::all_of(walks.begin(), walks.end(), [first](const Walk& walk) {
      return walk.now()->signature == first;
    });
    if (is_equal) {
      for (Walk& walk : walks) walk.advance();
      continue;
    }
    std::map<std::uint32_t, std::size_t> votes;
    for (const Walk& walk : walks) ++votes[walk.now()->signature];
    const auto most =
        std::max_element(votes.begin(), votes.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    const auto usual = std::find_if(walks.begin(), walks.end(), [&most](const Walk& walk) {
      return walk.now()->signature == most->first;
    });
    const std::string expected = text_of(*usual);
    for (std::size_t i = 0; i < walks.size(); ++i) {
      if (walks[i].now()->signature == most->first) continue;
      const std::string text = text_of(walks[i]);
      facts.desyncs.push_back({calls[i].rank,
                               calls[i].process,
                               call,
                               text,
                               expected,
                               {walks[i].now()->place, calls[i].process, text}});
    }
    return;
  }
}

}  // namespace ringside::audit
