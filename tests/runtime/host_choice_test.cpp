#include "engine/runtime/host/host_choice.h"

#include <gtest/gtest.h>

namespace ringside {
namespace {

// A long network path needs more data in flight than a cache holds; short calls do not.
TEST(HostChoice, SlotsBetweenHostsAreTheTransports) {
  const Transport& tcp = **parse_transport("tcp");
  HostSituation at{.bytes = 64_MiB, .nranks = 2, .transport = &tcp};
  EXPECT_EQ(choose_on_host(at)->slot, 64_KiB);
  at.crosses_hosts = true;
  EXPECT_EQ(choose_on_host(at)->slot, 256_KiB);
  at.bytes = 1_KiB;
  EXPECT_LE(choose_on_host(at)->slot, 8_KiB);
}

TEST(HostChoice, ShortAllReducesAreOneShotAndLongOnesTwoShot) {
  HostSituation situation{.bytes = 8_B, .nranks = 2};
  EXPECT_EQ(choose_on_host(situation)->algorithm, Algorithm::OneShot);
  situation.bytes = 64_MiB;
  EXPECT_EQ(choose_on_host(situation)->algorithm, Algorithm::TwoShot);
  EXPECT_EQ(choose_on_host(situation)->protocol, Protocol::Simple);
}

// Where slots of lines need a completion at both ends, the shortest messages use slots that need none.
TEST(HostChoice, UsesTheTransportsLlLimitIfNoRuleMatches) {
  const auto protocol = [](const char* transport, Bytes bytes) {
    return choose_on_host({.collective = Collective::Send,
                           .bytes = bytes,
                           .nranks = 2,
                           .transport = *parse_transport(transport)})
        ->protocol;
  };
  EXPECT_EQ(protocol("rdma", 512_B), Protocol::LL);
  EXPECT_EQ(protocol("rdma", 513_B), Protocol::LL128);
  EXPECT_EQ(protocol("rdma", 4_KiB), Protocol::Simple);
  EXPECT_EQ(protocol("shm", 8_B), Protocol::LL128);
}

// They join at most 16 ranks.
TEST(HostChoice, AllPairsAreNotChosenForMoreRanksThanTheyJoin) {
  EXPECT_EQ(choose_on_host({.bytes = 8_B, .nranks = 16})->algorithm, Algorithm::OneShot);
  EXPECT_EQ(choose_on_host({.bytes = 8_B, .nranks = 17})->algorithm, Algorithm::Ring);
  EXPECT_EQ(choose_on_host({.bytes = 1_MiB, .nranks = 16})->algorithm, Algorithm::TwoShot);
  EXPECT_EQ(choose_on_host({.bytes = 1_MiB, .nranks = 17})->algorithm, Algorithm::Ring);
}

// The choice for one size and number of ranks has every field set.
TEST(HostChoice, IsTheCompleteAnswer) {
  const auto choice = choose_on_host({.bytes = 64_MiB, .nranks = 2, .cache = 2_MiB});
  ASSERT_TRUE(choice);
  EXPECT_EQ(*choice, (Choice{.collective = Collective::AllReduce,
                             .algorithm = Algorithm::TwoShot,
                             .protocol = Protocol::Simple,
                             .nchannels = 1,
                             .slot = 128_KiB,
                             .slots_per_chunk = 4,
                             .chunk = 512_KiB}));
}

TEST(HostChoice, SettingsGoBeforeTheTable) {
  const auto choice = choose_on_host(
      {.bytes = 8_B, .nranks = 2},
      {.algorithm = Algorithm::Tree, .protocol = Protocol::Simple, .nchannels = 3, .slot = 4_KiB});
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->algorithm, Algorithm::Tree);
  EXPECT_EQ(choice->protocol, Protocol::Simple);
  EXPECT_EQ(choice->nchannels, 3);
  EXPECT_EQ(choice->slot, 4_KiB);
  EXPECT_EQ(choice->chunk, 16_KiB);
}

// 16 slots share the cache: 2 MiB / 16 = 128 KiB, 512 KiB / 16 = 32 KiB.
TEST(HostChoice, SlotsOfBothDirectionsFitTheCache) {
  const Transport& shm = **parse_transport("shm");
  const Transport& tcp = **parse_transport("tcp");
  EXPECT_EQ(host_slot(Protocol::Simple, 2_MiB, shm), 128_KiB);
  EXPECT_EQ(host_slot(Protocol::Simple, 512_KiB, shm), 32_KiB);
  EXPECT_EQ(host_slot(Protocol::Simple, 64_MiB, shm), 128_KiB);
  EXPECT_EQ(host_slot(Protocol::Simple, 2_MiB, tcp), 64_KiB);
  EXPECT_EQ(host_slot(Protocol::Simple, 512_KiB, tcp), 32_KiB);
}

TEST(HostChoice, ShortCallsTakeSlotsThatShareASocketWhereTheTransportShares) {
  HostSituation situation{.bytes = 8_KiB, .nranks = 2, .transport = *parse_transport("tcp")};
  EXPECT_EQ(choose_on_host(situation)->slot, 8_KiB);
  EXPECT_EQ(choose_on_host(situation, {.slot = 32_KiB})->slot, 32_KiB);
  situation.bytes = 16_KiB;
  EXPECT_EQ(choose_on_host(situation)->slot, 64_KiB);
}

TEST(HostChoice, AnAlgorithmThatDoesNotDoTheCollectiveIsNamedWithThoseThatDo) {
  const auto choice = choose_on_host({.collective = Collective::AllGather, .nranks = 4},
                                     {.algorithm = Algorithm::Tree});
  ASSERT_FALSE(choice);
  EXPECT_EQ(choice.error().code, ErrorCode::Unsupported);
  EXPECT_EQ(choice.error().help, "there is ring, collnet_direct, nvls, pat");
}

TEST(HostChoice, RefusesReductionsThatTheSwitchLacks) {
  const auto choice = choose_on_host({.nranks = 2, .type = DataType::Float32, .op = RedOp::Max},
                                     {.algorithm = Algorithm::Nvls});
  ASSERT_FALSE(choice);
  EXPECT_EQ(choice.error().code, ErrorCode::InvalidArgument);
}

// Each node has half of the ranks; with an odd number of ranks, each rank is a node.
TEST(HostChoice, SimulatedNodesHaveEqualSizes) {
  EXPECT_EQ(played_ranks_per_node(8), 4);
  EXPECT_EQ(played_ranks_per_node(5), 1);
  EXPECT_EQ(played_ranks_per_node(2), 1);
}

}  // namespace
}  // namespace ringside
