#include "engine/channels/pat_peers.h"

#include <gtest/gtest.h>

namespace ringside {
namespace {

// Distances 1, 2, 4 are below 6. Rank 1 behind by 4 is rank 3: (1 - 4 + 6) mod 6.
TEST(PatPeers, ReduceScatterSendsAheadByPowersOfTwo) {
  const std::vector<PatPeers> expected{
      {1, Rank{2}, Rank{0}}, {2, Rank{3}, Rank{5}}, {4, Rank{5}, Rank{3}}};
  EXPECT_EQ(pat_peers(Collective::ReduceScatter, Rank{1}, 6), expected);
}

TEST(PatPeers, AllGatherGoesTheOtherWayRound) {
  const std::vector<PatPeers> expected{
      {1, Rank{0}, Rank{2}}, {2, Rank{5}, Rank{3}}, {4, Rank{3}, Rank{5}}};
  EXPECT_EQ(pat_peers(Collective::AllGather, Rank{1}, 6), expected);
}

TEST(PatPeers, OneRankHasNone) {
  EXPECT_TRUE(pat_peers(Collective::AllGather, Rank{0}, 1).empty());
}

TEST(PatPeers, WhomARankSendsToReceivesFromIt) {
  for (int nranks = 2; nranks <= 64; ++nranks) {
    for (int rank = 0; rank < nranks; ++rank) {
      const auto own = pat_peers(Collective::AllGather, Rank{rank}, nranks);
      for (std::size_t k = 0; k < own.size(); ++k) {
        EXPECT_EQ(pat_peers(Collective::AllGather, own[k].send, nranks)[k].recv, Rank{rank});
      }
    }
  }
}

}  // namespace
}  // namespace ringside
