#include "harness/hangs/player.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/hangs/programs.h"

namespace ringside::hangs {
namespace {

using Kind = Step::Kind;
constexpr int kWorld = 0;

// 1,000,000 floats are 4 MB: 20 us and 4e6 / 50 ns = 80 us after the later of the two came, and within
// 3 us of that on either rank.
TEST(Player, ACollectiveEndsAFixedTimeAfterItsLastMemberCame) {
  SmallProgram small(2);
  for (const int rank : {0, 1}) small.call(rank, Op::AllReduce, kWorld, 1'000'000);
  const Play play = small.play();
  const std::int64_t last = std::max(record(play, 0, 0).started, record(play, 1, 0).started);
  for (const int rank : {0, 1}) {
    EXPECT_GE(record(play, rank, 0).completed, last + 100'000);
    EXPECT_LT(record(play, rank, 0).completed, last + 103'000);
  }
  EXPECT_FALSE(play.is_hung());
}

TEST(Player, AHostContinuesAfterACallAndWaitsAtASynchronize) {
  SmallProgram small(2);
  small.call(0, Op::AllReduce, kWorld);
  small.call(0, Op::AllReduce, kWorld);
  small.plain(0, Kind::Synchronize);
  small.call(0, Op::AllReduce, kWorld);
  const Play play = small.play();
  EXPECT_EQ(play.ranks[0].records.size(), 2U);
  EXPECT_EQ(play.ranks[0].end.host, RankEnd::Host::WaitsForGpu);
  EXPECT_EQ(play.ranks[1].end.host, RankEnd::Host::Finished);
  // The first kernel runs and waits for rank 1; the second one is queued behind it on the stream.
  EXPECT_NE(record(play, 0, 0).started, kNever);
  EXPECT_EQ(record(play, 0, 1).started, kNever);
}

TEST(Player, AnAsynchronousCallHoldsUpOnlyItsOwnStream) {
  SmallProgram small(2);
  const int other = small.group({0, 1});
  small.call(0, Op::AllReduce, other).async = true;  // rank 1 never makes it
  for (const int rank : {0, 1}) small.call(rank, Op::AllReduce, kWorld);
  const Play play = small.play();
  EXPECT_FALSE(is_done(play, 0, 0));
  EXPECT_TRUE(is_done(play, 0, 1));
  EXPECT_TRUE(is_done(play, 1, 0));
}

TEST(Player, AJoinMakesLaterCallsWaitForEarlierAsynchronousOnes) {
  SmallProgram small(2);
  const int other = small.group({0, 1});
  small.call(0, Op::AllReduce, other).async = true;  // rank 1 never makes it
  small.plain(0, Kind::Join).group = -1;
  for (const int rank : {0, 1}) small.call(rank, Op::AllReduce, kWorld);
  const Play play = small.play();
  EXPECT_EQ(record(play, 0, 1).started, kNever);
  EXPECT_FALSE(is_done(play, 1, 0));
}

TEST(Player, AJoinOfOneGroupDoesNotWaitForAnother) {
  SmallProgram small(2);
  const int other = small.group({0, 1});
  small.call(0, Op::AllReduce, other).async = true;  // rank 1 never makes it
  small.plain(0, Kind::Join).group = kWorld;
  for (const int rank : {0, 1}) small.call(rank, Op::AllReduce, kWorld);
  EXPECT_TRUE(is_done(small.play(), 1, 0));
}

// Rank 0 is in group A and comes to B after it; rank 1 the other way round. Neither comes.
TEST(Player, TwoGroupsEnteredInOppositeOrdersAreADeadlock) {
  SmallProgram small(2);
  const int a = small.group({0, 1});
  const int b = small.group({0, 1});
  small.call(0, Op::AllReduce, a);
  small.call(0, Op::AllReduce, b);
  small.call(1, Op::AllReduce, b);
  small.call(1, Op::AllReduce, a);
  const Play play = small.play();
  for (const int rank : {0, 1}) {
    EXPECT_NE(record(play, rank, 0).started, kNever);
    EXPECT_EQ(record(play, rank, 1).started, kNever);
    EXPECT_FALSE(is_done(play, rank, 0));
  }
  EXPECT_TRUE(play.is_hung());
}

TEST(Player, ASendWaitsForItsReceive) {
  SmallProgram small(3);
  small.call(0, Op::Send, kWorld, 1000, 1);
  small.call(1, Op::Recv, kWorld, 1000, 0);
  small.call(2, Op::Send, kWorld, 1000, 1);  // no rank receives it
  const Play play = small.play();
  EXPECT_TRUE(is_done(play, 0, 0));
  EXPECT_TRUE(is_done(play, 1, 0));
  EXPECT_FALSE(is_done(play, 2, 0));
}

TEST(Player, TwoRanksThatSendToEachOtherFirstAreADeadlock) {
  SmallProgram small(2);
  for (const int rank : {0, 1}) {
    small.call(rank, Op::Send, kWorld, 1000, 1 - rank);
    small.call(rank, Op::Recv, kWorld, 1000, 1 - rank);
  }
  const Play play = small.play();
  EXPECT_FALSE(is_done(play, 0, 0));
  EXPECT_FALSE(is_done(play, 1, 0));
}

TEST(Player, TransfersToDifferentPeersDoNotWaitForEachOtherWhenAsynchronous) {
  SmallProgram small(3);
  small.call(0, Op::Send, kWorld, 1000, 1).async = true;  // rank 1 never receives
  small.call(0, Op::Send, kWorld, 1000, 2).async = true;
  small.call(2, Op::Recv, kWorld, 1000, 0);
  const Play play = small.play();
  EXPECT_FALSE(is_done(play, 0, 0));
  EXPECT_TRUE(is_done(play, 0, 1));
}

TEST(Player, CallsThatDisagreeNeverEnd) {
  struct Difference {
    const char* what;
    void (*make)(Step& step);
    bool is_hung;
  };
  const Difference differences[] = {
      {"operation", [](Step& s) { s.op = Op::AllGather; }, true},
      {"size", [](Step& s) { s.count = 999; }, true},
      {"wider type", [](Step& s) { s.type = DataType::Float64; }, true},
      {"type of equal width: the same bytes", [](Step& s) { s.type = DataType::Int32; }, false},
      {"root", [](Step& s) { s.peer = 1; }, true},
  };
  for (const Difference& difference : differences) {
    SmallProgram small(3);
    for (const int rank : {0, 1, 2}) {
      Step& step = small.call(rank, Op::Broadcast, kWorld);
      step.count = 1'000'000;
      if (rank == 1) difference.make(step);
    }
    EXPECT_EQ(small.play().is_hung(), difference.is_hung) << difference.what;
  }
}

// 1000 floats are 4,000 bytes, which fit in the slots; 100,000 are 400,000, which do not.
TEST(Player, TheRootOfASmallBroadcastDoesNotWaitForTheOthers) {
  for (const std::int64_t count : {1000, 100'000}) {
    SmallProgram small(2);
    small.call(0, Op::Broadcast, kWorld, count, 0);
    const Play play = small.play();
    EXPECT_EQ(is_done(play, 0, 0), count == 1000);
  }
}

TEST(Player, AMemberOfASmallBroadcastStillNeedsAllOthers) {
  SmallProgram small(3);
  small.call(0, Op::Broadcast, kWorld, 1000, 0);
  small.call(1, Op::Broadcast, kWorld, 1000, 0);
  const Play play = small.play();
  EXPECT_TRUE(is_done(play, 0, 0));
  EXPECT_FALSE(is_done(play, 1, 0));
}

TEST(Player, ARendezvousHoldsTheHostUntilAllAreThere) {
  SmallProgram small(3);
  for (const int rank : {0, 1, 2}) {
    for (int round = 0; round < 2; ++round) {
      if (rank != 2 || round == 0) small.plain(rank, Kind::Rendezvous);
      small.call(rank, Op::AllReduce, kWorld);
    }
  }
  const Play play = small.play();
  EXPECT_EQ(play.ranks[0].end.host, RankEnd::Host::WaitsForHost);
  EXPECT_EQ(play.ranks[0].records.size(), 1U);
  EXPECT_EQ(play.ranks[2].records.size(), 2U);
  EXPECT_TRUE(is_done(play, 2, 0));
  EXPECT_FALSE(is_done(play, 2, 1));
}

TEST(Player, AStalledNetworkHoldsACallThatAllAreIn) {
  SmallProgram small(2);
  for (const int rank : {0, 1}) {
    for (int i = 0; i < 3; ++i) small.call(rank, Op::AllReduce, kWorld);
  }
  const Play play = hangs::play(small.program(), {kWorld, 2}, 1);
  for (const int rank : {0, 1}) {
    EXPECT_TRUE(is_done(play, rank, 0));
    EXPECT_NE(record(play, rank, 1).started, kNever);
    EXPECT_FALSE(is_done(play, rank, 1));
    EXPECT_EQ(record(play, rank, 2).started, kNever);
  }
}

TEST(Player, SequenceNumbersCountCollectivesAndTransfersOfAGroupApart) {
  SmallProgram small(2);
  const int pair = small.group({0, 1});
  small.call(0, Op::AllReduce, pair);
  small.call(0, Op::Send, pair, 1000, 1);
  small.call(0, Op::AllReduce, kWorld);
  small.call(0, Op::AllReduce, pair);
  const Play play = small.play();
  const auto seqs = [&play](int index) {
    return std::pair(record(play, 0, index).collective_seq, record(play, 0, index).p2p_seq);
  };
  EXPECT_EQ(seqs(0), std::pair(1, 0));
  EXPECT_EQ(seqs(1), std::pair(1, 1));
  EXPECT_EQ(seqs(2), std::pair(1, 0));
  EXPECT_EQ(seqs(3), std::pair(2, 1));
}

}  // namespace
}  // namespace ringside::hangs
