#include <gtest/gtest.h>

#include "engine/collectives/prove.h"
#include "tests/collectives/tasks.h"

namespace ringside {
namespace {

constexpr std::array kCollectives{Collective::AllReduce, Collective::AllGather,
                                  Collective::ReduceScatter, Collective::Broadcast};

std::vector<Program> ring_programs(Collective collective, int n, int root) {
  std::vector<Program> programs;
  for (int position = 0; position < n; ++position) {
    programs.push_back(record(ring_task(collective, position, n, 1, root)));
  }
  return programs;
}

// Loops may overlap on a connection, so three run back to back; Simple holds 2 chunks of 4 slots,
// other shapes up to 8.
TEST(RingProof, EachContributionArrivesExactlyOnceFor1To64RanksAndAnyDepth) {
  for (const Collective collective : kCollectives) {
    for (int n = 1; n <= 64; ++n) {
      for (const int in_flight : {2, 3, 8}) {
        const int root = collective == Collective::Broadcast ? n / 2 : 0;
        const auto proof =
            prove_ring(collective, ring_programs(collective, n, root), root, in_flight, 3);
        ASSERT_TRUE(proof) << to_string(collective) << " n " << n << ": " << proof.error().message;
      }
    }
  }
}

// Every rank has sent one chunk and must send the next before it gives the first one's slots back.
// So a chunk may take at most half of a connection's slots.
TEST(RingProof, OneChunkInFlightIsNotEnough) {
  const auto proof =
      prove_ring(Collective::AllReduce, ring_programs(Collective::AllReduce, 4, 0), 0, 1, 1);
  ASSERT_FALSE(proof);
  EXPECT_NE(proof.error().message.find("deadlock"), std::string::npos);
}

// Chunks are 1/n of the buffer: 2(n - 1) of them are 2(n - 1) / n of it, as the algorithm's head
// says.
TEST(RingProof, EachLinkCarriesWhatTheHeadOfTheAlgorithmSays) {
  for (int n = 2; n <= 64; ++n) {
    const auto sent = [&](Collective collective, int root = 0) {
      const auto proof = prove_ring(collective, ring_programs(collective, n, root), root, 2, 1);
      EXPECT_TRUE(proof) << proof.error().message;
      return proof ? proof->chunks_sent : std::vector<std::int64_t>();
    };
    const auto everywhere = [&](std::int64_t chunks) {
      return std::vector<std::int64_t>(static_cast<std::size_t>(n), chunks);
    };
    EXPECT_EQ(sent(Collective::AllReduce), everywhere(2 * (n - 1)));
    EXPECT_EQ(sent(Collective::AllGather), everywhere(n - 1));
    EXPECT_EQ(sent(Collective::ReduceScatter), everywhere(n - 1));
    auto but_into_the_root = everywhere(1);
    but_into_the_root.back() = 0;  // root at position 0: the link from n - 1 stays idle
    EXPECT_EQ(sent(Collective::Broadcast), but_into_the_root);
  }
}

// The proof must be able to fail: each of these breaks the programs in one place.
class BrokenPrograms : public testing::Test {
 protected:
  std::vector<Program> programs_ = ring_programs(Collective::AllReduce, 4, 0);
  std::string verdict() {
    const auto proof = prove_ring(Collective::AllReduce, programs_, 0, 2, 2);
    return proof ? "" : proof.error().message;
  }
};

TEST_F(BrokenPrograms, AMissingFirstSendIsADeadlock) {
  for (Program& program : programs_) program.steps.erase(program.steps.begin());
  EXPECT_NE(verdict().find("deadlock"), std::string::npos);
}

TEST_F(BrokenPrograms, AMissingLastRecvLeavesAnOutputUnwritten) {
  programs_[2].steps.pop_back();
  EXPECT_NE(verdict().find("never written"), std::string::npos);
}

TEST_F(BrokenPrograms, AForwardWithoutReductionLosesAContribution) {
  programs_[1].steps[1].primitive = Primitive::RecvCopySend;
  EXPECT_NE(verdict(), "");
}

TEST_F(BrokenPrograms, AnotherChunkThanExpectedIsSeen) {
  programs_[0].steps[0].first_chunk = 1;
  EXPECT_NE(verdict().find("arrived"), std::string::npos);
}

}  // namespace
}  // namespace ringside
