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
  int ranks = 2;           ///< 1 to 4096
  int ranks_per_node = 0;  ///< 0: all ranks are on one node
  int channels = 1;
  /// elements: each rank's buffer; all_gather, reduce_scatter: each rank's block
  std::int64_t count = 1024;
  int root = 0;
};

/// The work of one rank on one chunk.
struct CollectiveStep {
  int channel = 0;
  std::int64_t loop = 0;  ///< loop of the channel over its share of the buffer
  Primitive primitive = Primitive::Copy;
  int chunk = 0;
  std::vector<int> from = {};  ///< ranks from which the chunk is received
  std::vector<int> to = {};    ///< ranks to which it is sent
};

/// The data sent from one rank to another.
struct RankTraffic {
  int from = -1;  ///< -1: a switch or network that reduces
  int to = -1;    ///< -1: a switch or network that reduces
  std::int64_t elements = 0;
};

/// The result of a proof: the algorithm is correct, and its cost.
struct CollectiveProof {
  std::int64_t steps = 0;   ///< steps of all ranks together
  std::int64_t rounds = 0;  ///< longest chain of dependent messages, over all channels
  std::vector<RankTraffic> traffic;
};

/// Returns the steps of one rank, channel by channel, in order.
/// errors  Unsupported: the algorithm does not support the collective.  InvalidArgument: a rank or count that does not
///         exist
Result<std::vector<CollectiveStep>> list_steps(const CollectiveRequest& request, int rank);

/// Runs the steps of all ranks against each other over sets of contributions instead of data, in connections of bounded size.
/// errors  as list_steps().  Corrupt: a contribution is missing or counted twice, or ranks wait for each other
Result<CollectiveProof> prove_collective(const CollectiveRequest& request);

}  // namespace ringside
