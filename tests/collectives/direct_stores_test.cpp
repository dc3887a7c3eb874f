#include <gtest/gtest.h>

#include <bit>

#include "engine/collectives/prove.h"
#include "tests/collectives/tasks.h"

namespace ringside {
namespace {

/// Numbers over all ranks: messages that senders store directly, and steps whose message the receiver expects in place.
struct Totals {
  int stored = 0, expected_in_place = 0;
  friend bool operator==(const Totals&, const Totals&) = default;
};

Totals totals_of(std::span<const DirectStores> all) {
  Totals totals;
  for (const DirectStores& rank : all) {
    for (const DirectStep& step : rank.steps) {
      totals.stored += std::popcount(step.to);
      totals.expected_in_place += static_cast<int>(step.takes);
    }
  }
  return totals;
}

Totals totals_of(PlannedCall planned) {
  planned.call.count = 4 * planned.nranks * kTestChunk;
  return totals_of(find_direct_stores(plan_all(planned).front()));
}

// A ring all-reduce of 4 ranks has 7 steps: a send, 2 that add to a partial sum and send it, recv_reduce_copy_send,
// which sends the first finished chunk, 2 that pass finished chunks on, and a last receive. Finished chunks are stored
// directly; partial sums are not.
TEST(DirectStores, ARingStoresDirectlyInItsSecondRound) {
  const auto tasks = plan_all({.nranks = 4, .call = {.count = 3 * 4 * kTestChunk}}).front();
  for (const DirectStores& rank : find_direct_stores(tasks)) {
    const std::vector<DirectStep> expected{{}, {}, {}, {.to = 1}, {1, 1}, {1, 1}, {.takes = 1}};
    EXPECT_EQ(rank.steps, expected);
  }
}

// Direct stores of n ranks in one loop.
TEST(DirectStores, AreAllThatAreNotReduced) {
  using enum Collective;
  const auto both = [](int count) { return Totals{count, count}; };
  EXPECT_EQ(totals_of({.collective = AllReduce, .nranks = 6}), both(6 * 5));
  EXPECT_EQ(totals_of({.collective = AllGather, .nranks = 6}), both(6 * 5));
  EXPECT_EQ(totals_of({.collective = Broadcast, .nranks = 6}), both(5));
  EXPECT_EQ(totals_of({.collective = ReduceScatter, .nranks = 6}), both(0));
  EXPECT_EQ(totals_of({.collective = Reduce, .nranks = 6}), both(0));
  EXPECT_EQ(totals_of({.algorithm = Algorithm::Tree, .nranks = 6}), both(5));
  EXPECT_EQ(totals_of({.algorithm = Algorithm::OneShot, .nranks = 6}), both(0));
  EXPECT_EQ(totals_of({.algorithm = Algorithm::TwoShot, .nranks = 6}), both(6 * 5));
  // Each of 6 heads multicasts its slice to 6 ranks, including itself.
  EXPECT_EQ(totals_of({.algorithm = Algorithm::Nvls, .nranks = 6}), both(6 * 6));
  EXPECT_EQ(totals_of({.collective = AllGather, .algorithm = Algorithm::Pat, .nranks = 6}),
            both(6 * 5));
  EXPECT_EQ(totals_of({.collective = AllToAll, .nranks = 6}), both(6 * 5));
  EXPECT_EQ(totals_of({.collective = Gather, .nranks = 6}), both(5));
  EXPECT_EQ(totals_of({.collective = Scatter, .nranks = 6}), both(5));
}

/// Returns the tasks of an all-gather by NVLS on two nodes. The switch returns each rank's own block to it, while
/// another strand sends the block to the network.
std::vector<ChannelTask> gather_on_nodes() {
  return plan_all({.collective = Collective::AllGather,
                   .algorithm = Algorithm::Nvls,
                   .nranks = 6,
                   .ranks_per_node = 3,
                   .call = {.count = 4 * kTestChunk}})
      .front();
}

// On two nodes of 3 ranks, each of the 6 blocks is stored directly at the 5 other ranks. A rank must not store its own
// block to itself through the switch, because another strand may still read that block for the network. On one node no
// other strand reads it, so 6 x 6 blocks are stored.
TEST(DirectStores, DoNotOverwriteUnreadInput) {
  const auto tasks = gather_on_nodes();
  const auto direct = find_direct_stores(tasks);
  EXPECT_EQ(totals_of(direct), (Totals{6 * 5, 6 * 5}));
  EXPECT_TRUE(prove(tasks, {.direct = direct}));
  EXPECT_EQ(
      totals_of({.collective = Collective::AllGather, .algorithm = Algorithm::Nvls, .nranks = 6}),
      (Totals{6 * 6, 6 * 6}));
}

std::string verdict(const std::vector<ChannelTask>& tasks,
                    const std::vector<DirectStores>& direct) {
  const auto proof = prove(tasks, {.direct = direct});
  return proof ? "" : proof.error().message;
}

// As above, but with each rank's stores to itself added. They write the same bytes; the proof must still refuse them,
// because the storing rank cannot know that the network strand has read the block.
TEST(DirectStores, RefusesStoresThatMayPrecedeARead) {
  const auto tasks = gather_on_nodes();
  auto direct = find_direct_stores(tasks);
  // Steps of strand 1 (multicast) begin at first[1], with the rank's own block. Steps of strand 2 (receive) begin at
  // first[2], in order of heads from heads.first.
  for (std::size_t rank = 0; rank < direct.size(); ++rank) {
    const Heads& heads = tasks[rank].heads;
    const auto ends = first_ends(tasks[rank].send_peers, false);
    const int own_end = ends[static_cast<std::size_t>(heads.count)] + heads.own;
    DirectStores& mine = direct[rank];
    mine.steps[static_cast<std::size_t>(mine.first[1])].to |= std::uint64_t{1} << own_end;
    const int place = (heads.own - heads.first + heads.count) % heads.count;
    mine.steps[static_cast<std::size_t>(mine.first[2] + place)].takes = 1;
  }
  EXPECT_NE(verdict(tasks, direct).find("in place"), std::string::npos) << verdict(tasks, direct);
}

TEST(DirectStores, RefusesDataThatIsReduced) {
  const auto tasks = plan_all({.nranks = 4, .call = {.count = 3 * 4 * kTestChunk}}).front();
  const auto fine = find_direct_stores(tasks);
  ASSERT_EQ(verdict(tasks, fine), "");
  auto direct = fine;
  direct[1].steps[1].to = 1;  // a partial sum: rank 2 still has to add its own input
  direct[2].steps[2].takes = 1;
  EXPECT_NE(verdict(tasks, direct).find("in place"), std::string::npos) << verdict(tasks, direct);
}

TEST(DirectStores, RefusesStoresThatOnlyOneEndExpects) {
  const auto tasks = plan_all({.nranks = 4, .call = {.count = 3 * 4 * kTestChunk}}).front();
  const auto fine = find_direct_stores(tasks);
  auto direct = fine;
  direct[1].steps[3].to = 0;
  EXPECT_NE(verdict(tasks, direct), "");
  direct = fine;
  direct[2].steps[4].takes = 0;
  EXPECT_NE(verdict(tasks, direct), "");
}

// Rank 0's transfer begins at 40 of its input, and at 7 of rank 1's output.
TEST(DirectStores, ShiftsTransfersToTheReceiversOffset) {
  const Choice choice{.collective = Collective::SendRecv, .slot = 512_B, .chunk = 512_B};
  const Channels channels = host_channels(2, 1, 0);
  CallShape sends, takes;
  sends.sends = {{Rank{1}, 40, 300}};
  takes.recvs = {{Rank{0}, 7, 300}};
  const auto plan = [&](const CallShape& shape, int rank) {
    return (*plan_channels(choice, channels, shape, Rank{rank})).front();
  };
  std::vector<ChannelTask> tasks{plan(sends, 0), plan(takes, 1)};
  auto direct = find_direct_stores(tasks);
  EXPECT_EQ(totals_of(direct), (Totals{1, 1}));
  EXPECT_EQ(direct[0].shift, (std::vector<std::int64_t>{7 - 40}));
  // If a rank sends more than the other one receives, direct stores would write outside the other's output.
  takes.recvs = {{Rank{0}, 7, 299}};
  tasks[1] = plan(takes, 1);
  EXPECT_EQ(totals_of(find_direct_stores(tasks)), (Totals{0, 0}));
}

}  // namespace
}  // namespace ringside
