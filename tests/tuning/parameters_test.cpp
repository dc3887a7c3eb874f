#include "engine/tuning/parameters.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/support/environment_table.h"

namespace ringside {
namespace {

Result<TuningParameters> parse(const std::map<std::string, std::string>& values) {
  return parse_tuning_parameters(environment_of(values));
}

Permission algorithm(const TuningParameters& parameters, Collective c, Algorithm a) {
  return parameters.algorithms[static_cast<std::size_t>(c)][static_cast<std::size_t>(a)];
}

Permission protocol(const TuningParameters& parameters, Collective c, Protocol p) {
  return parameters.protocols[static_cast<std::size_t>(c)][static_cast<std::size_t>(p)];
}

TEST(TuningParameters, AListIsForAllCollectivesAndForgetsTheRest) {
  const auto parameters = parse({{"NCCL_ALGO", "ring,TREE"}});
  ASSERT_TRUE(parameters);
  EXPECT_EQ(algorithm(*parameters, Collective::AllReduce, Algorithm::Ring), Permission::Yes);
  EXPECT_EQ(algorithm(*parameters, Collective::Broadcast, Algorithm::Tree), Permission::Yes);
  EXPECT_EQ(algorithm(*parameters, Collective::AllReduce, Algorithm::Nvls), Permission::No);
  EXPECT_EQ(protocol(*parameters, Collective::AllReduce, Protocol::LL128), Permission::Default);
}

TEST(TuningParameters, ACollectivesOwnListReplacesTheOneForAll) {
  const auto parameters = parse({{"NCCL_ALGO", "ring;allreduce:tree,nvls"}});
  ASSERT_TRUE(parameters);
  EXPECT_TRUE(parameters->names_collectives);
  EXPECT_EQ(algorithm(*parameters, Collective::AllGather, Algorithm::Ring), Permission::Yes);
  EXPECT_EQ(algorithm(*parameters, Collective::AllReduce, Algorithm::Ring), Permission::No);
  EXPECT_EQ(algorithm(*parameters, Collective::AllReduce, Algorithm::Nvls), Permission::Yes);
}

// Excluding LL requests LL128 by name, and so skips its safety rule; excluding LL128 does not.
TEST(TuningParameters, ExcludingAsksForTheOthers) {
  const auto parameters = parse({{"NCCL_PROTO", "^LL"}});
  ASSERT_TRUE(parameters);
  EXPECT_EQ(protocol(*parameters, Collective::AllReduce, Protocol::LL), Permission::No);
  EXPECT_EQ(protocol(*parameters, Collective::AllReduce, Protocol::LL128), Permission::Yes);
}

TEST(TuningParameters, RejectedValuesAreErrorsWithTheNearestWord) {
  const auto wrong = parse({{"NCCL_ALGO", "rign"}});
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().help.find("did you mean 'Ring'?"), std::string::npos)
      << wrong.error().help;
  EXPECT_FALSE(parse({{"NCCL_ALGO", "ring;tree"}}));
  EXPECT_FALSE(parse({{"NCCL_ALGO", "allreduc:ring"}}));
  EXPECT_FALSE(parse({{"NCCL_PROTO", "LL,"}}));
  EXPECT_FALSE(parse({{"NCCL_PROTO", "LL64"}}));
  EXPECT_FALSE(parse({{"NCCL_NTHREADS", "100"}}));
  EXPECT_FALSE(parse({{"NCCL_NTHREADS", "1024"}}));
  EXPECT_FALSE(parse({{"NCCL_PAT_ENABLE", "3"}}));
  EXPECT_FALSE(parse({{"NCCL_THREAD_THRESHOLDS", "1 2 3 4 5 6 7"}}));
}

TEST(TuningParameters, NumbersAreRead) {
  const auto parameters = parse({{"NCCL_NTHREADS", "256"},
                                 {"NCCL_LL128_NTHREADS", "320"},
                                 {"NCCL_THREAD_THRESHOLDS", "4 -1 32"},
                                 {"NCCL_NET_OVERHEAD", "1500"},
                                 {"NCCL_LL128_C2C", "0"}});
  ASSERT_TRUE(parameters);
  EXPECT_EQ(parameters->nthreads, 256);
  EXPECT_EQ(parameters->ll128_nthreads, 320);
  EXPECT_EQ(parameters->thread_thresholds[0], 4);
  EXPECT_FALSE(parameters->thread_thresholds[1].has_value());
  EXPECT_EQ(parameters->thread_thresholds[2], 32);
  EXPECT_DOUBLE_EQ(*parameters->net_overhead_us, 1.5);
  EXPECT_FALSE(parameters->ll128_c2c);
}

}  // namespace
}  // namespace ringside
