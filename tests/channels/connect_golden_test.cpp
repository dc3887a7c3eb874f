#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "engine/channels/connect.h"
#include "tests/support/golden_graphs.h"

namespace ringside {
namespace {

int as_number(bool flag) { return flag ? 1 : 0; }

void expect_graphs(const Json& golden, const CommShape& shape) {
  for (std::size_t id = 0; id < kGraphs; ++id) {
    const char* const name = oracle::golden_graph_name(static_cast<GraphId>(id));
    SCOPED_TRACE(name);
    const GraphSummary expected = oracle::golden_summary(golden, golden["merged"][name]);
    const GraphSummary& merged = shape.graphs[id];
    EXPECT_EQ(merged.id, expected.id);
    EXPECT_EQ(merged.pattern, expected.pattern);
    EXPECT_EQ(merged.is_collnet, expected.is_collnet);
    EXPECT_EQ(merged.nchannels, expected.nchannels);
    EXPECT_EQ(merged.cross_nic, expected.cross_nic);
    EXPECT_EQ(merged.bw_intra, expected.bw_intra);
    EXPECT_EQ(merged.bw_inter, expected.bw_inter);
    EXPECT_EQ(merged.latency_inter, expected.latency_inter);
    EXPECT_EQ(merged.type_intra, expected.type_intra);
    EXPECT_EQ(merged.type_inter, expected.type_inter);
    EXPECT_EQ(merged.same_channels, expected.same_channels);
  }
}

void expect_shape(const Json& golden, const CommShape& shape) {
  const Json& comm = golden["comm"];
  EXPECT_EQ(shape.nranks, golden["nRanks"]);
  EXPECT_EQ(shape.nnodes, golden["nNodes"]);
  EXPECT_EQ(shape.min_local_ranks, comm["minLocalRanks"]);
  EXPECT_EQ(shape.max_local_ranks, comm["maxLocalRanks"]);
  EXPECT_EQ(shape.min_cc, comm["minCompCap"]);
  EXPECT_EQ(shape.max_cc, comm["maxCompCap"]);
  EXPECT_EQ(static_cast<int>(shape.cpu_arch), comm["cpuArch"]);
  EXPECT_EQ(static_cast<int>(shape.cpu_vendor), comm["cpuVendor"]);
  EXPECT_EQ(static_cast<int>(shape.max_tree_pattern), comm["maxTreePattern"]);
  EXPECT_EQ(shape.nchannels, comm["nChannels"]);
  EXPECT_EQ(as_number(shape.has_nvls), comm["nvlsSupport"]);
  EXPECT_EQ(shape.nvls_channels, comm["nvlsChannels"]);
  EXPECT_EQ(shape.nvls_chunk, comm["nvlsChunkSize"]);
  EXPECT_EQ(shape.nvls_tree_chunk, comm["nvlsTreeMaxChunkSize"]);
  EXPECT_EQ(as_number(shape.has_collnet), comm["collnetEnable"]);
  EXPECT_EQ(as_number(shape.has_collnet_chain), comm["collNetChainSupport"]);
  EXPECT_EQ(shape.p2p_channels, comm["p2pnChannels"]);
  EXPECT_EQ(shape.p2p_channels_per_peer, comm["p2pnChannelsPerPeer"]);
  EXPECT_EQ(shape.p2p_chunk, comm["p2pChunkSize"]);
  EXPECT_EQ(Json(shape.buffers), comm["buffSizes"]);
}

Json numbers(const std::vector<Rank>& ranks) {
  Json list = Json::array();
  for (const Rank rank : ranks) list.push_back(to_int(rank));
  return list;
}

/// [parent, children...] of every rank.
Json numbers(const std::vector<Channels::TreePlace>& tree) {
  Json list = Json::array();
  for (const Channels::TreePlace& place : tree) {
    Json& entry = list.emplace_back(Json::array({to_int(place.parent)}));
    for (const Rank child : place.children) entry.push_back(to_int(child));
  }
  return list;
}

template <typename Part>
void expect_parts(const Json& expected, const std::vector<Part>& parts, const char* what) {
  ASSERT_EQ(parts.size(), expected.size()) << what;
  for (std::size_t part = 0; part < parts.size(); ++part) {
    EXPECT_TRUE(numbers(parts[part]) == expected[part]) << what << " " << part;
  }
}

void expect_nvls(const Json& golden, const Connection& connection) {
  const Channels::Nvls& nvls = connection.channels.nvls;
  const Json expected = golden.value("nvls", Json{});
  if (expected.is_null()) {
    EXPECT_TRUE(nvls.heads.empty() && nvls.trees.empty());
    return;
  }
  EXPECT_EQ(connection.shape.nvls_heads, expected["nHeads"]);
  expect_parts(expected["heads"], nvls.heads, "NVLS heads");
  expect_parts(expected.value("tree", Json::array()), nvls.trees, "NVLS tree");
}

void expect_collnet(const Json& golden, const Connection& connection) {
  const Channels::CollNet& collnet = connection.channels.collnet;
  const Json expected = golden.value("collnet", Json{});
  if (expected.is_null()) {
    EXPECT_TRUE(collnet.heads.empty() && collnet.direct_heads.empty() && collnet.chain.empty());
    return;
  }
  EXPECT_EQ(numbers(collnet.heads), expected["heads"]);
  EXPECT_EQ(numbers(collnet.direct_heads), expected["directHeads"]);
  EXPECT_EQ(connection.shape.collnet_heads, static_cast<int>(expected["directHeads"].size()));
  Json chain = Json::array();
  for (const auto& [up, down] : collnet.chain) chain.push_back({to_int(up), to_int(down)});
  EXPECT_EQ(chain, expected["chain"]);
}

TEST(ConnectNodes, AgreesWithNcclOnEveryGoldenJob) {
  for (const std::string& name : oracle::golden_names()) {
    SCOPED_TRACE(name);
    const Json golden = oracle::load_golden(name);
    const oracle::GoldenNodes input = oracle::golden_nodes(golden);
    ChannelParameters parameters;
    parameters.collnet_enable = golden["collnetEnabled"] == 1;
    const auto connection = connect_nodes(input.reports, input.nodes, parameters);
    ASSERT_TRUE(connection) << connection.error().message;

    expect_graphs(golden, connection->shape);
    expect_shape(golden, connection->shape);
    expect_parts(golden["rings"], connection->channels.rings, "ring");
    expect_parts(golden["trees"], connection->channels.trees, "tree");
    EXPECT_EQ(connection->channels.tree_depth, golden["treeDepth"]);
    expect_nvls(golden, *connection);
    expect_collnet(golden, *connection);
  }
}

}  // namespace
}  // namespace ringside
