#pragma once

#include <ringside/export.h>
#include <ringside/result.h>
#include <ringside/words.h>

#include <cstdint>
#include <vector>

namespace RINGSIDE_API ringside {

/// A collective by one algorithm, among ranks in their natural order.
struct CollectiveRequest {
  Collective collective = Collective::AllReduce;
  Algorithm algorithm = Algorithm::Ring;
  Protocol protocol = Protocol::Simple;
  int ranks = 2;
  int ranks_per_node = 0;  ///< 0: all ranks are on one node
  int channels = 1;
  std::int64_t count =
      1024;  ///< elements of each rank's buffer; all_gather, reduce_scatter: of each rank's block
  int root = 0;
};

/// What one rank does with one chunk.
struct CollectiveStep {
  int channel = 0;
  std::int64_t loop = 0;  ///< of the channel over its share of the buffer
  Primitive primitive = Primitive::Copy;
  int chunk = 0;
  std::vector<int> from = {};  ///< ranks that the chunk comes from
  std::vector<int> to = {};    ///< ranks that it goes to
};

/// What has crossed from one rank to another.
struct RankTraffic {
  int from = -1;  ///< -1: a switch or network that reduces
  int to = -1;    ///< -1: a switch or network that reduces
  std::int64_t elements = 0;
};

/// That an algorithm is right, and what it costs.
struct CollectiveProof {
  std::int64_t steps = 0;   ///< of all ranks
  std::int64_t rounds = 0;  ///< messages one after the other, of the longest channel
  std::vector<RankTraffic> traffic;
};

/// The steps of one rank, channel by channel, in their order.
/// errors  Unsupported: no such collective by that algorithm.  InvalidArgument: a rank or count that does not exist
Result<std::vector<CollectiveStep>> list_steps(const CollectiveRequest& request, int rank);

/// Runs the steps of all ranks against each other over sets of contributions instead of data, in connections of bounded size.
/// errors  as list_steps().  Corrupt: a contribution is missing or counted twice, or ranks wait for each other
Result<CollectiveProof> prove_collective(const CollectiveRequest& request);

}  // namespace ringside
