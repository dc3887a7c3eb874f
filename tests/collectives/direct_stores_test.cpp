#include <gtest/gtest.h>

#include <bit>

#include "engine/collectives/prove.h"
#include "tests/collectives/tasks.h"

namespace ringside {
namespace {

/// Over all ranks, the messages that are stored directly, and the messages that their receivers accept in that way.
struct Totals {
  int stored = 0, taken = 0;
  friend bool operator==(const Totals&, const Totals&) = default;
};

Totals totals_of(std::span<const DirectStores> all) {
  Totals totals;
  for (const DirectStores& rank : all) {
    for (const DirectStep& step : rank.steps) {
      totals.stored += std::popcount(step.to);
      totals.taken += static_cast<int>(step.takes);
    }
  }
  return totals;
}

Totals totals_of(PlannedCall planned) {
  planned.call.count = 4 * planned.nranks * kTestChunk;
  return totals_of(find_direct_stores(plan_all(planned).front()));
}

// In six steps of a ring of four, data that go round the second time are in their place, and reduced data are not.
TEST(DirectStores, ARingStoresDirectlyInItsSecondRound) {
  const auto tasks = plan_all({.nranks = 4, .call = {.count = 3 * 4 * kTestChunk}}).front();
  for (const DirectStores& rank : find_direct_stores(tasks)) {
    const std::vector<DirectStep> expected{{}, {}, {}, {.to = 1}, {1, 1}, {1, 1}, {.takes = 1}};
    EXPECT_EQ(rank.steps, expected);
  }
}

// The counts for n ranks, over the steps of one loop.
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

/// An all-gather by NVLS on two nodes: each rank's own block comes back to it by the switch, while another strand sends
/// it to the network.
std::vector<ChannelTask> gather_on_nodes() {
  return plan_all({.collective = Collective::AllGather,
                   .algorithm = Algorithm::Nvls,
                   .nranks = 6,
                   .ranks_per_node = 3,
                   .call = {.count = 4 * kTestChunk}})
      .front();
}

// 6 blocks to 6 ranks, but for each one's own to itself; on one node that strand alone reads it, so it may.
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

// As above, but with these stores: they write the same bytes, but the storing rank does not know that they have been
// read.
TEST(DirectStores, RefusesStoresThatMayPrecedeARead) {
  const auto tasks = gather_on_nodes();
  auto direct = find_direct_stores(tasks);
  // Strand 1 multicasts, strand 2 receives; in round 0 the own block.
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
  direct[1].steps[1].to = 1;  // a partial sum, which rank 2 adds its own to
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
  // A rank that sends more than the other one takes would write outside the other's output.
  takes.recvs = {{Rank{0}, 7, 299}};
  tasks[1] = plan(takes, 1);
  EXPECT_EQ(totals_of(find_direct_stores(tasks)), (Totals{0, 0}));
}

}  // namespace
}  // namespace ringside
