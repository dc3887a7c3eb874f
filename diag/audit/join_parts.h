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

/// Maps [shard][speaker] to the job's process.
using ProcessTable = std::vector<std::vector<std::uint32_t>>;

/// Fills JobFacts::processes and hosts.
///
/// A torn line may contain a truncated host name. Therefore a speaker with few lines is merged with another speaker
/// that has the same process id and thread.
ProcessTable join_processes(const std::vector<std::unique_ptr<Shard>>& shards, JobFacts& facts);

/// Compares the calls of the ranks of a communicator, until at most one rank has calls left.
///
/// A lost line must not make a rank a culprit. If op_count increases by one with each call, calls with equal op_count
/// are compared, and a jump shows a lost line. Otherwise (2.8, ranks without a proxy, sends between the collectives)
/// the k-th calls are compared. If a rank matches the others again from a later call on, a line was lost or the rank
/// skipped a call; the lines do not show which.
///
/// returns  the ranks that differ from most ranks, at the first difference
/// source   docs/formats 3.1
std::vector<JobFacts::Desync> compare_calls(const std::vector<CallsOfRank>& calls,
                                            const std::vector<std::unique_ptr<Shard>>& shards,
                                            CallOrder& order);

/// Rebuilds the rings and trees of communicators from the lines of their ranks.
///
/// A ring's order is read from the lines `Ring c : p -> r -> n` of all ranks, else from rank 0's `Channel c/n : ...` if
/// it is complete, else from the connections that are not in a tree.
/// source  docs/formats 2.12
class RingMaker {
 public:
  /// Sorts the shards' rings and trees by part.
  explicit RingMaker(std::vector<std::unique_ptr<Shard>>& shards);

  /// Sets the rings and trees of a communicator.
  /// pieces  shard and part of all its members
  void make(const std::vector<std::pair<std::uint32_t, std::uint32_t>>& pieces, CommFacts& comm);

 private:
  void make_trees(const std::vector<std::pair<std::uint32_t, std::uint32_t>>& pieces,
                  CommFacts& comm);

  /// Returns, by channel, the number of lines that name a successor in its ring.
  [[nodiscard]] std::vector<std::int64_t> count_hops(
      const std::vector<std::pair<std::uint32_t, std::uint32_t>>& pieces) const;

  std::vector<std::unique_ptr<Shard>>& shards_;
};

/// Fills JobFacts::comms from the parts of all shards, and JobFacts::desyncs. JobFacts::nets and processes must be
/// filled.
///
/// nets  maps [shard][number in Shard::nets] to the number in JobFacts::nets
void join_comms(std::vector<std::unique_ptr<Shard>>& shards, const ProcessTable& processes,
                const std::vector<std::vector<std::uint16_t>>& nets, JobFacts& facts);

}  // namespace ringside::audit
