#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "diag/audit/facts.h"
#include "diag/audit/shard.h"

namespace ringside::audit {

/// The calls of one rank of a communicator.
struct CallsOfRank {
  std::int32_t rank = -1;
  std::uint32_t process = 0;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pieces;  ///< shard, part
};

/// Compares the k-th call of every rank, as far as all of them have one, and notes those that differ from
/// most at the first k where any does. opCount is not looked at: it does not mean the same on all ranks.
/// source  ../shared/reference/log-and-dump-formats.md, section 3.1
void compare_calls(const std::vector<CallsOfRank>& calls,
                   const std::vector<std::unique_ptr<Shard>>& shards, JobFacts& facts);

}  // namespace ringside::audit
