#include "study/explain/exchange.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringside::study {
namespace {

using testing::HasSubstr;

ExplainQuestion about(const char* collective, int nodes, const char* sizes) {
  return {.job = {.on = "dgx-h100", .nodes = nodes},
          .calls = {.collective = collective, .sizes = sizes}};
}

// 16 ranks, 1 GiB: 64 MiB for each pair, cut as tests/collectives/exchange_schedule_test.cpp has it.
TEST(Exchange, CutsWhatEachPairTransfers) {
  const auto all = explain_exchange(about("all_to_all", 2, "16K:1G:65536"));
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_EQ(all->peers, 15);
  ASSERT_EQ(all->sizes.size(), 2U);
  EXPECT_EQ(all->sizes[0].transfer, 1_KiB);
  EXPECT_EQ(all->sizes[0].parts, 1);
  EXPECT_EQ(all->sizes[1].transfer, 64_MiB);
  const TransferCut cut = cut_transfer(64 << 20, {.chunk = all->shape.p2p_chunk,
                                                  .nranks = 16,
                                                  .nodes = 2,
                                                  .nchannels = all->channels,
                                                  .per_peer = all->shape.p2p_channels_per_peer});
  EXPECT_EQ(all->sizes[1].parts, cut.parts);
  EXPECT_GT(cut.parts, 1);
}

TEST(Exchange, RankZeroBeginsWithItselfAndItsNode) {
  const auto all = explain_exchange(about("all_to_all", 2, "1M"));
  ASSERT_TRUE(all);
  ASSERT_EQ(all->first_rounds.size(), 10U);
  EXPECT_EQ(all->first_rounds[0].send, Rank{0});
  EXPECT_EQ(all->first_rounds[1].send, Rank{1});
  EXPECT_EQ(all->first_rounds[1].recv, Rank{7});
  EXPECT_EQ(all->first_rounds[8].send, Rank{8});
  EXPECT_EQ(all->block, 8);
}

// Rank 9 is GPU 1 of the other node: the message leaves by GPU 1's NIC, to which NVLink leads.
TEST(Exchange, AMessageToAnotherNodeTakesTheNicOfThePeersNumber) {
  const auto all = explain_exchange(about("send_recv", 2, "1M"));
  ASSERT_TRUE(all);
  EXPECT_EQ(all->peers, 1);
  EXPECT_EQ(all->far, Rank{9});
  EXPECT_TRUE(all->is_relayed);
  ASSERT_FALSE(all->way.empty());
  EXPECT_THAT(all->way.front(), HasSubstr("GPU 0 -> NVSwitch"));
  EXPECT_THAT(all->way[1], HasSubstr("NVSwitch -> GPU 1"));

  const auto one_node = explain_exchange(about("gather", 1, "1M"));
  ASSERT_TRUE(one_node);
  EXPECT_FALSE(one_node->is_relayed);
  EXPECT_EQ(one_node->peers, 7);
}

TEST(Exchange, OtherCollectivesAreRefused) {
  EXPECT_FALSE(explain_exchange(about("all_reduce", 1, "1M")));
  EXPECT_FALSE(*is_exchange(about("all_reduce", 1, "1M")));
  EXPECT_TRUE(*is_exchange(about("scatter", 1, "1M")));
  EXPECT_FALSE(*is_exchange(about("", 1, "1M")));
}

}  // namespace
}  // namespace ringside::study
