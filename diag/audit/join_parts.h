#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "diag/audit/call_order.h"
#include "diag/audit/facts.h"
#include "diag/audit/shard.h"

/// The steps of join_shards().
namespace ringside::audit {

/// For each shard, the process of each of its speakers.
using ProcessTable = std::vector<std::vector<std::uint32_t>>;

/// Fills JobFacts::processes and hosts.
///
/// A torn line may show a truncated host name. A speaker with few lines whose process id and thread are those of
/// another speaker is the same process.
ProcessTable join_processes(const std::vector<std::unique_ptr<Shard>>& shards, JobFacts& facts);

/// Compares the calls of the ranks, as long as two of them have calls left.
///
/// A lost line shifts the following lines, and must not make a rank a culprit. Where the ranks' own counters move
/// with their calls alone, calls of one count are compared: a jump is a gap. Elsewhere (2.8, ranks without a proxy,
/// sends between the collectives) the k-th calls are compared. A rank that continues like the others from a later
/// call has a gap there, or skipped a call: the lines do not show which.
///
/// returns  the ranks that differ from most, at the first call where any does
/// source   docs/formats 3.1
std::vector<JobFacts::Desync> compare_calls(const std::vector<CallsOfRank>& calls,
                                            const std::vector<std::unique_ptr<Shard>>& shards,
                                            CallOrder& order);

/// Rebuilds the rings and trees of communicators from the lines of their ranks.
///
/// A ring's order comes from `Ring c : p -> r -> n` of all ranks, otherwise from rank 0's `Channel c/n : ...` if it
/// is not cut, otherwise from the connections without those of the trees.
/// source  docs/formats 2.12
class RingMaker {
 public:
  /// Sorts the shards' rings and trees by part.
  explicit RingMaker(std::vector<std::unique_ptr<Shard>>& shards);

  /// pieces  shard and part of all members
  void make(const std::vector<std::pair<std::uint32_t, std::uint32_t>>& pieces, CommFacts& comm);

 private:
  void make_trees(const std::vector<std::pair<std::uint32_t, std::uint32_t>>& pieces,
                  CommFacts& comm);

  /// By channel, how many lines name a successor in its ring.
  [[nodiscard]] std::vector<std::int64_t> count_hops(
      const std::vector<std::pair<std::uint32_t, std::uint32_t>>& pieces) const;

  std::vector<std::unique_ptr<Shard>>& shards_;
};

/// Fills JobFacts::comms from the parts of all shards, and JobFacts::desyncs. JobFacts::nets and processes must be
/// filled.
///
/// nets  [shard][number of the shard] = number of JobFacts
void join_comms(std::vector<std::unique_ptr<Shard>>& shards, const ProcessTable& processes,
                const std::vector<std::vector<std::uint16_t>>& nets, JobFacts& facts);

}  // namespace ringside::audit
