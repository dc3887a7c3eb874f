#include "engine/topology/parameters.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/environment_table.h"

namespace ringside {
namespace {

TEST(TopologyParameters, AnEmptyEnvironmentGivesTheDefaults) {
  const auto read = parse_topology_parameters(environment_of({}));
  ASSERT_TRUE(read);
  EXPECT_FALSE(read->p2p_level);
  EXPECT_FALSE(read->gdr_level);
  EXPECT_FALSE(read->gdr_read);
  EXPECT_TRUE(read->pxn_c2c);
  EXPECT_TRUE(read->gdr_c2c);
  EXPECT_EQ(read->mnnvl_enable, 2);
  EXPECT_EQ(read->netdevs_policy, 0);
}

TEST(TopologyParameters, ALevelIsANameOrTheNumberBeforeThereWereNames) {
  EXPECT_EQ(parse_topology_parameters(environment_of({{"NCCL_P2P_LEVEL", "PHB"}}))->p2p_level,
            PathType::Phb);
  EXPECT_EQ(parse_topology_parameters(environment_of({{"NCCL_P2P_LEVEL", "1"}}))->p2p_level,
            PathType::Pix);
  EXPECT_EQ(parse_topology_parameters(environment_of({{"NCCL_NET_GDR_LEVEL", "5"}}))->gdr_level,
            PathType::Sys);
  const auto wrong = parse_topology_parameters(environment_of({{"NCCL_P2P_LEVEL", "6"}}));
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message.find("NCCL_P2P_LEVEL='6'"), std::string::npos);
}

TEST(TopologyParameters, DisablingP2pOverridesItsLevel) {
  const auto read = parse_topology_parameters(
      environment_of({{"NCCL_P2P_DISABLE", "1"}, {"NCCL_P2P_LEVEL", "SYS"}}));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->p2p_level, PathType::Loc);
}

TEST(TopologyParameters, ThePolicyOfNetDevicesHasThreeForms) {
  const auto policy = [](const char* text) {
    return parse_topology_parameters(environment_of({{"NCCL_NETDEVS_POLICY", text}}));
  };
  EXPECT_EQ(policy("AUTO")->netdevs_policy, 0);
  EXPECT_EQ(policy("ALL")->netdevs_policy, -1);
  EXPECT_EQ(policy("MAX:3")->netdevs_policy, 3);
  for (const char* wrong : {"MAX:0", "MAX:", "all", "MAX:-1"}) EXPECT_FALSE(policy(wrong)) << wrong;
}

TEST(TopologyParameters, ReadingByTheNicCanBeForcedEitherWay) {
  EXPECT_EQ(parse_topology_parameters(environment_of({{"NCCL_NET_GDR_READ", "1"}}))->gdr_read,
            true);
  EXPECT_EQ(parse_topology_parameters(environment_of({{"NCCL_NET_GDR_READ", "0"}}))->gdr_read,
            false);
  EXPECT_FALSE(parse_topology_parameters(environment_of({{"NCCL_NET_GDR_READ", "-2"}}))->gdr_read);
}

TEST(TopologyParameters, EveryVariableOfTheListIsRead) {
  for (const std::string_view name : topology_variables()) {
    const auto read =
        parse_topology_parameters(environment_of({{std::string(name), "no such value"}}));
    EXPECT_FALSE(read) << name;
  }
}

}  // namespace
}  // namespace ringside
