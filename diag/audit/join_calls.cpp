#include "diag/audit/join_calls.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace ringside::audit {
namespace {

/// Walks a rank's calls over the pieces of its part.
class Walk {
 public:
  Walk(const CallsOfRank& calls, const std::vector<std::unique_ptr<Shard>>& shards,
       const CallOrder& order)
      : calls_(calls), shards_(shards), order_(order) {
    settle();
  }
  [[nodiscard]] const CallMark* now() const {
    return left_.empty() ? nullptr : &shard().calls[left_.front()];
  }
  [[nodiscard]] const Shard& shard() const { return *shards_[calls_.pieces[piece_].first]; }
  void advance() {
    left_ = left_.subspan(1);
    if (!left_.empty()) return;
    ++piece_;
    settle();
  }

 private:
  void settle() {
    for (left_ = {}; piece_ < calls_.pieces.size(); ++piece_) {
      const auto [shard, part] = calls_.pieces[piece_];
      left_ = order_.of_part(shard, part);
      if (!left_.empty()) return;
    }
  }
  const CallsOfRank& calls_;
  const std::vector<std::unique_ptr<Shard>>& shards_;
  const CallOrder& order_;
  std::size_t piece_ = 0;
  std::span<const std::uint32_t> left_ = {};  ///< of the piece's calls
};

CallSum sum_of(const CallsOfRank& calls, const std::vector<std::unique_ptr<Shard>>& shards) {
  CallSum sum;
  for (const auto& [shard, part] : calls.pieces) {
    sum.append(shards[shard]->parts[part].calls);
  }
  return sum;
}

std::string text_of(const Walk& walk) {
  const auto found = walk.shard().call_texts.find(walk.now()->signature);
  return found == walk.shard().call_texts.end() ? std::string() : found->second;
}

}  // namespace

void CallOrder::make(const std::vector<std::unique_ptr<Shard>>& shards) {
  std::call_once(once_, [&] { make_once(shards); });
}

void CallOrder::make_once(const std::vector<std::unique_ptr<Shard>>& shards) {
  for (const auto& shard : shards) {
    OfShard& mine = shards_.emplace_back();
    mine.first.resize(shard->parts.size() + 1);
    for (const CallMark& call : shard->calls) ++mine.first[call.part + std::size_t{1}];
    std::partial_sum(mine.first.begin(), mine.first.end(), mine.first.begin());
    std::vector<std::uint32_t> next(mine.first.begin(), mine.first.end() - 1);
    mine.calls.resize(shard->calls.size());
    for (std::uint32_t i = 0; i < shard->calls.size(); ++i) {
      mine.calls[next[shard->calls[i].part]++] = i;
    }
  }
}

std::span<const std::uint32_t> CallOrder::of_part(std::uint32_t shard, std::uint32_t part) const {
  const OfShard& mine = shards_[shard];
  return std::span(mine.calls).subspan(mine.first[part], mine.first[part + 1] - mine.first[part]);
}

std::vector<JobFacts::Desync> compare_calls(const std::vector<CallsOfRank>& calls,
                                            const std::vector<std::unique_ptr<Shard>>& shards,
                                            CallOrder& order) {
  std::vector<JobFacts::Desync> desyncs;
  if (calls.size() < 2) return desyncs;
  // Most jobs call alike: then there is nothing to walk.
  const CallSum one = sum_of(calls.front(), shards);
  if (std::all_of(calls.begin(), calls.end(),
                  [&](const CallsOfRank& rank) { return sum_of(rank, shards) == one; })) {
    return desyncs;
  }
  order.make(shards);
  std::vector<Walk> walks;
  for (const CallsOfRank& rank : calls) walks.emplace_back(rank, shards, order);
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
      desyncs.push_back({calls[i].rank,
                         calls[i].process,
                         call,
                         text,
                         expected,
                         {walks[i].now()->place, calls[i].process, text}});
    }
    return desyncs;
  }
  return desyncs;
}

}  // namespace ringside::audit
