#include "diag/audit/call_order.h"

#include <numeric>

namespace ringside::audit {

void CallOrder::make(const std::vector<std::unique_ptr<Shard>>& shards) {
  std::call_once(once_, [&] { make_once(shards); });
}

void CallOrder::make_once(const std::vector<std::unique_ptr<Shard>>& shards) {
  for (const auto& shard : shards) {
    OfShard& mine = shards_.emplace_back();
    mine.first.resize(shard->parts.size() + 1);
    shard->calls.for_each([&](const CallMark& call) { ++mine.first[call.part + std::size_t{1}]; });
    std::partial_sum(mine.first.begin(), mine.first.end(), mine.first.begin());
    std::vector<std::uint32_t> next(mine.first.begin(), mine.first.end() - 1);
    mine.calls.resize(shard->calls.size());
    shard->calls.for_each([&](const CallMark& call) { mine.calls[next[call.part]++] = call; });
  }
}

std::span<const CallMark> CallOrder::of_part(std::uint32_t shard, std::uint32_t part) const {
  const OfShard& mine = shards_[shard];
  return std::span(mine.calls).subspan(mine.first[part], mine.first[part + 1] - mine.first[part]);
}

CallSum sum_of(const CallsOfRank& calls, const std::vector<std::unique_ptr<Shard>>& shards) {
  CallSum sum;
  for (const auto& [shard, part] : calls.pieces) {
    sum.append(shards[shard]->parts[part].calls);
  }
  return sum;
}

}  // namespace ringside::audit
