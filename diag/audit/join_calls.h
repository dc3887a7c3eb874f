#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
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

/// The calls of each part, in order: made when the first communicator needs them, which few jobs do.
///
/// Threads  any, at the same time
class CallOrder {
 public:
  void make(const std::vector<std::unique_ptr<Shard>>& shards);

  /// Places in Shard::calls.
  [[nodiscard]] std::span<const std::uint32_t> of_part(std::uint32_t shard,
                                                       std::uint32_t part) const;

 private:
  void make_once(const std::vector<std::unique_ptr<Shard>>& shards);

  struct OfShard {
    std::vector<std::uint32_t> first = {};  ///< by part, in calls
    std::vector<std::uint32_t> calls = {};
  };
  std::once_flag once_ = {};
  std::vector<OfShard> shards_ = {};
};

/// Compares the calls of the ranks, as long as two of them have one.
///
/// A line that is lost shifts what follows it, and must accuse nobody. Where the ranks' own counters move with
/// their calls alone, calls of one count are compared: a jump is a hole. Elsewhere (2.8, ranks without a proxy,
/// sends between the collectives) the k-th calls are, and a rank that goes on like the others from a later call
/// has a hole there, or skipped a call: the lines cannot tell.
///
/// returns  those that differ from most, at the first call where any does
/// source   ../shared/reference/log-and-dump-formats.md, section 3.1
std::vector<JobFacts::Desync> compare_calls(const std::vector<CallsOfRank>& calls,
                                            const std::vector<std::unique_ptr<Shard>>& shards,
                                            CallOrder& order);

}  // namespace ringside::audit
