#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "engine/topology/node_type.h"

namespace ringside {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kSmall = R"(ringside: node/1
name: small
gpus: 4
compute_capability: 80
gpu_link: 100GB/s
nic:
  gpu: [2, 0]
  line_rate: 200Gbit/s
  host_link: 48GB/s
latency: {base: 8us, gpu_step: 3us, net_step: 14us}
)";

/// kSmall with the first `from` replaced.
std::string with(const std::string& from, const std::string& to) {
  std::string text = kSmall;
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

Error error_of(const std::string& text) {
  const auto node = parse_node(text, "n.yaml");
  if (node) return {ErrorCode::InvalidArgument, "parsed"};
  return node.error();
}

TEST(Node, TheDgxH100PresetIsTheMachineOfNcclsWorkedExample) {
  const auto node = load_node("dgx-h100");
  ASSERT_TRUE(node) << node.error().message;
  EXPECT_EQ(node->gpus, 8);
  EXPECT_EQ(node->nics(), 8);
  EXPECT_DOUBLE_EQ(node->gpu_link.value, 18 * 20.6e9);
  EXPECT_DOUBLE_EQ(node->nic_bandwidth().value, 48e9);  // PCIe, below the 50 GB/s of the wire
  EXPECT_DOUBLE_EQ(node->latency.net_step.count(), 14e-6);
}

TEST(Node, APresetsNameIsItsFiles) {
  for (const std::string_view name : node_preset_names()) {
    const auto node = load_node(std::string{name});
    ASSERT_TRUE(node) << node.error().message;
    EXPECT_EQ(node->name, name);
  }
}

TEST(Node, ReadsEachKey) {
  const auto node = parse_node(kSmall, "n.yaml");
  ASSERT_TRUE(node) << node.error().message;
  EXPECT_EQ(node->nic_gpu, (std::vector<int>{2, 0}));
  EXPECT_DOUBLE_EQ(node->nic_bandwidth().value, 25e9);  // 200 Gbit/s, below PCIe's 48
  EXPECT_EQ(node->nic_of(2), 0);
  EXPECT_EQ(node->nic_of(0), 1);
  EXPECT_EQ(node->nic_of(3), 0);  // none of its own
}

TEST(Node, AnUnknownPresetNamesTheNearest) {
  const auto node = load_node("dgx-h10");
  ASSERT_FALSE(node);
  EXPECT_EQ(exit_status(node.error().code), 2);
  EXPECT_THAT(node.error().help, HasSubstr("did you mean 'dgx-h100'?"));
}

TEST(Node, AnUnknownKeyIsRefusedWithItsLineAndTheNearestKey) {
  const Error error = error_of(with("line_rate", "line_rat"));
  EXPECT_EQ(error.code, ErrorCode::Corrupt);
  EXPECT_EQ(error.message, "n.yaml:8: unknown key 'line_rat'");
  EXPECT_THAT(error.help, HasSubstr("'line_rate'"));
}

TEST(Node, WhatCannotBeMeantIsRefusedWithItsLine) {
  EXPECT_THAT(error_of(with("gpus: 4\n", "")).message, HasSubstr("key 'gpus' is missing"));
  EXPECT_THAT(error_of(with("gpus: 4", "gpus: 4\ngpus: 5")).message,
              HasSubstr("n.yaml:4: key 'gpus' comes twice"));
  EXPECT_THAT(error_of(with("gpus: 4", "gpus: 0")).message, StartsWith("n.yaml:3: gpus must be"));
  EXPECT_THAT(error_of(with("100GB/s", "100")).message, StartsWith("n.yaml:5: gpu_link"));
  EXPECT_THAT(error_of(with("[2, 0]", "[2, 4]")).message,
              StartsWith("n.yaml:7: each entry of gpu"));
  EXPECT_THAT(error_of(with("[2, 0]", "[2, 2]")).message,
              StartsWith("n.yaml:7: GPU 2 has two NICs"));
  EXPECT_THAT(error_of(with("[2, 0]", "[]")).message, StartsWith("n.yaml:7: gpu must list"));
  EXPECT_THAT(error_of(with("node/1", "node/2")).message, StartsWith("n.yaml:1: 'node/2' is not"));
  EXPECT_THAT(error_of(with("latency: {", "latency: [")).message, StartsWith("n.yaml:1"));
  EXPECT_EQ(error_of("").code, ErrorCode::Corrupt);
  EXPECT_EQ(error_of("- a\n- b\n").code, ErrorCode::Corrupt);
}

TEST(Node, ANodeMayHaveNoNic) {
  const std::string text =
      with("nic:\n  gpu: [2, 0]\n  line_rate: 200Gbit/s\n  host_link: 48GB/s\n", "");
  const auto node = parse_node(text, "n.yaml");
  ASSERT_TRUE(node) << node.error().message;
  EXPECT_EQ(node->nics(), 0);
  EXPECT_TRUE(make_cluster(*node, 1));
  EXPECT_FALSE(make_cluster(*node, 2));
}

TEST(Cluster, HasFromOneNodeTo65536Ranks) {
  const NodeType node = *load_node("dgx-h100");
  EXPECT_FALSE(make_cluster(node, 0));
  EXPECT_FALSE(make_cluster(node, -1));
  EXPECT_FALSE(make_cluster(node, 8193));  // x 8 GPUs = 65,544
  const auto cluster = make_cluster(node, 8192);
  ASSERT_TRUE(cluster);
  EXPECT_EQ(cluster->nranks(), 65536);
}

}  // namespace
}  // namespace ringside
