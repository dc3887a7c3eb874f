#include "engine/topology/rules.h"

#include <gtest/gtest.h>

#include "engine/topology/parameters.h"
#include "tests/topology/small_hosts.h"

namespace ringside {
namespace {

using namespace small_hosts;

TopologyParameters parameters_of(const char* version) {
  const Environment nothing = [](const char*) -> std::optional<std::string> { return {}; };
  return *parse_topology_parameters(nothing, version);
}

TEST(TopologyRules, NvLinksOfHopperAndBlackwellBecameFaster) {
  const auto hopper = [](const char* version) {
    return load_topology_rules(version)->nvlink.hopper;
  };
  const auto blackwell = [](const char* version) {
    return load_topology_rules(version)->nvlink.blackwell;
  };
  EXPECT_FLOAT_EQ(hopper("2.18"), 20);
  EXPECT_FLOAT_EQ(hopper("2.19"), 20);
  EXPECT_FLOAT_EQ(hopper("2.20"), 20.6F);
  EXPECT_FLOAT_EQ(blackwell("2.19"), 20);
  EXPECT_FLOAT_EQ(blackwell("2.24"), 20.6F);
  EXPECT_FLOAT_EQ(blackwell("2.25"), 40);
  EXPECT_FLOAT_EQ(blackwell("2.27.3"), 40);
  EXPECT_FLOAT_EQ(blackwell("2.27"), 40.1F);
}

TEST(TopologyRules, SocketsAreDistinguishedByGeneration) {
  const auto intel = [](const char* version) {
    return load_topology_rules(version)->intel_socket_gbs;
  };
  EXPECT_EQ(intel("2.25"), (std::vector<float>{6, 10}));
  EXPECT_EQ(intel("2.26"), (std::vector<float>{6, 10, 22, 40}));
  EXPECT_EQ(load_topology_rules("2.18")->amd_socket_gbs.front(), 5000);
  EXPECT_EQ(load_topology_rules("2.19")->amd_socket_gbs, std::vector<float>{16});
}

TEST(TopologyRules, ChipToChipLinksHaveTheirOwnKind) {
  const auto kind = [](const char* version) { return load_topology_rules(version)->c2c_link; };
  EXPECT_EQ(kind("2.18"), C2cLink::Unknown);
  EXPECT_EQ(kind("2.19"), C2cLink::NvLink);
  EXPECT_EQ(kind("2.25"), C2cLink::NvLink);
  EXPECT_EQ(kind("2.26"), C2cLink::Own);
}

TEST(TopologyRules, VariablesBeginAsTheReleaseHasThem) {
  EXPECT_FALSE(parameters_of("2.26").gdr_c2c);
  EXPECT_TRUE(parameters_of("2.27").gdr_c2c);
  EXPECT_FALSE(parameters_of("2.27").pxn_c2c);
  EXPECT_TRUE(parameters_of("2.28").pxn_c2c);
}

// Returns two GPUs and a NIC on a switch: one node, which is the whole job.
System one_node(const char* version) {
  return systems_of(system(cpu(0, bridge("01:00.0", gpu({.bus = "02:00.0", .dev = 0}) +
                                                        gpu({.bus = "03:00.0", .dev = 1}) +
                                                        nic("04:00.0", 0)))),
                    2, parameters_of(version))
      .front();
}

TEST(TopologyRules, ANodeThatIsTheWholeJobKeepsItsNicsFrom2287On) {
  EXPECT_EQ(one_node("2.27").count(NodeKind::Net), 0);
  EXPECT_EQ(one_node("2.28.3").count(NodeKind::Net), 0);
  EXPECT_EQ(one_node("2.28.7").count(NodeKind::Net), 1);
  EXPECT_EQ(one_node("2.30").count(NodeKind::Net), 1);
}

// GPU, switch, GPU; from 2.30 on, each GPU's own device lies between.
TEST(TopologyRules, GpusOwnTheirLinksBefore230) {
  const System before = one_node("2.29");
  EXPECT_EQ(before.count(NodeKind::Dev), 0);
  EXPECT_EQ(before.path(gpu_ref(0), gpu_ref(1)).hops(), 2);
  const System now = one_node("2.30");
  EXPECT_EQ(now.count(NodeKind::Dev), 2);
  EXPECT_EQ(now.path(gpu_ref(0), gpu_ref(1)).hops(), 4);
}

}  // namespace
}  // namespace ringside
