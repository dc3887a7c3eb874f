#include "tests/support/golden_compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

namespace ringside::oracle {
namespace {

const std::map<std::string, GraphId> kGraphNames{{"ring", GraphId::Ring},
                                                 {"tree", GraphId::Tree},
                                                 {"collnetDirect", GraphId::CollNetDirect},
                                                 {"collnetChain", GraphId::CollNetChain},
                                                 {"nvls", GraphId::Nvls}};

template <typename T>
void expect(Comparison& comparison, const std::string& what, const T& golden, const T& ours) {
  ++comparison.checked;
  if (golden != ours)
    comparison.differences.push_back(fmt::format("{}: {}, ours {}", what, golden, ours));
}
void expect_near(Comparison& comparison, const std::string& what, double golden, double ours) {
  ++comparison.checked;
  if (std::abs(golden - ours) > 1e-5 * std::abs(golden)) {
    comparison.differences.push_back(fmt::format("{}: {}, ours {}", what, golden, ours));
  }
}
void expect_json(Comparison& comparison, const std::string& what, const Json& golden,
                 const Json& ours) {
  ++comparison.checked;
  if (golden != ours) {
    comparison.differences.push_back(
        fmt::format("{}: {}, ours {}", what, golden.dump(), ours.dump()));
  }
}

void compare_summary(Comparison& comparison, const std::string& name, const Json& golden,
                     const GraphSummary& ours) {
  expect(comparison, name + " pattern", golden["pattern"].get<int>(),
         static_cast<int>(ours.pattern));
  expect(comparison, name + " crossNic", golden["crossNic"].get<int>(), ours.cross_nic);
  expect(comparison, name + " nChannels", golden["nChannels"].get<int>(), ours.nchannels);
  expect_near(comparison, name + " bwIntra", golden["bwIntra"].get<double>(), ours.bw_intra);
  expect_near(comparison, name + " bwInter", golden["bwInter"].get<double>(), ours.bw_inter);
  expect_near(comparison, name + " latencyInter", golden["latencyInter"].get<double>(),
              ours.latency_inter);
  expect(comparison, name + " typeIntra", golden["typeIntra"].get<std::string>(),
         std::string{to_string(ours.type_intra)});
  expect(comparison, name + " typeInter", golden["typeInter"].get<std::string>(),
         std::string{to_string(ours.type_inter)});
  expect(comparison, name + " sameChannels", golden["sameChannels"].get<int>(),
         ours.same_channels ? 1 : 0);
}

Json net_name(const System& system, int net) {
  const int dev = system.nets[static_cast<std::size_t>(net)].dev;
  if (system.nhosts == 1) return dev;
  return fmt::format("{}-{}", system.node({NodeKind::Net, net}).host, dev);
}

void compare_graph(Comparison& comparison, const std::string& name, const Json& golden,
                   const Graph& ours, const System& system) {
  compare_summary(comparison, name, golden, ours);
  expect(comparison, name + " nHops", golden["nHops"].get<int>(), ours.nhops);
  Json intra = Json::array();
  for (const std::vector<int>& channel : ours.intra) {
    Json order = Json::array();
    for (const int gpu : channel) order.push_back(system.gpus[static_cast<std::size_t>(gpu)].rank);
    intra.push_back(std::move(order));
  }
  expect_json(comparison, name + " intra", golden["intra"], intra);
  if (!golden.contains("inter")) return;
  Json inter = Json::array();
  for (const auto& [in, out] : ours.inter) {
    inter.push_back({net_name(system, in), net_name(system, out)});
  }
  expect_json(comparison, name + " inter", golden["inter"], inter);
}

Json place_json(const Channels::TreePlace& place) {
  Json list = Json::array({to_int(place.parent)});
  for (const Rank child : place.children) list.push_back(to_int(child));
  return list;
}

Json ranks_json(const std::vector<Rank>& ranks) {
  Json list = Json::array();
  for (const Rank rank : ranks) list.push_back(to_int(rank));
  return list;
}

void compare_lists(Comparison& comparison, const std::string& what, const Json& golden,
                   std::size_t count, const std::function<Json(std::size_t)>& ours) {
  expect(comparison, what + " count", golden.size(), count);
  for (std::size_t i = 0; i < std::min(golden.size(), count); ++i) {
    expect_json(comparison, fmt::format("{} {}", what, i), golden[i], ours(i));
  }
}

Json places_json(const std::vector<Channels::TreePlace>& places) {
  Json list = Json::array();
  for (const auto& place : places) list.push_back(place_json(place));
  return list;
}

}  // namespace

Comparison compare_searches(const Json& golden, const Job& job) {
  Comparison comparison;
  for (std::size_t i = 0; i < golden["systems"].size(); ++i) {
    const Json& system = golden["systems"][i];
    const int node = system["node"].get<int>();
    const auto report =
        static_cast<std::size_t>(job.nodes.at(static_cast<std::size_t>(node)).report);
    for (const auto& [name, id] : kGraphNames) {
      compare_graph(comparison, fmt::format("system {} {}", i, name), system["search"][name],
                    job.reports[report].graphs[id], job.systems[report]);
    }
  }
  return comparison;
}

Comparison compare_merged(const Json& golden, const Job& job) {
  Comparison comparison;
  for (const auto& [name, id] : kGraphNames) {
    compare_summary(comparison, "merged " + name, golden["merged"][name],
                    job.connection.shape.graph(id));
  }
  return comparison;
}

Comparison compare_comm(const Json& golden, const Job& job) {
  const Json& comm = golden["comm"];
  const CommShape& shape = job.connection.shape;
  Comparison comparison;
  const auto compare = [&](const char* name, int ours) {
    expect(comparison, name, comm[name].get<int>(), ours);
  };
  expect(comparison, "nRanks", golden["nRanks"].get<int>(), shape.nranks);
  expect(comparison, "nNodes", golden["nNodes"].get<int>(), shape.nnodes);
  compare("nChannels", shape.nchannels);
  compare("nvlsChannels", shape.nvls_channels);
  compare("p2pnChannels", shape.p2p_channels);
  compare("p2pnChannelsPerPeer", shape.p2p_channels_per_peer);
  compare("nvlsSupport", shape.has_nvls ? 1 : 0);
  compare("nvlsChunkSize", shape.nvls_chunk);
  compare("nvlsTreeMaxChunkSize", shape.nvls_tree_chunk);
  compare("collnetEnable", shape.has_collnet ? 1 : 0);
  compare("collNetChainSupport", shape.has_collnet_chain ? 1 : 0);
  compare("isAllNvlink", shape.is_all_nvlink ? 1 : 0);
  compare("isAllDirectP2p", shape.is_all_direct_p2p ? 1 : 0);
  compare("minNetCount", shape.min_net_count);
  expect_near(comparison, "minNetBw", comm["minNetBw"].get<double>(), shape.min_net_bw);
  compare("maxTreePattern", static_cast<int>(shape.max_tree_pattern));
  compare("minCompCap", shape.min_cc);
  compare("maxCompCap", shape.max_cc);
  compare("cpuArch", static_cast<int>(shape.cpu_arch));
  compare("cpuVendor", static_cast<int>(shape.cpu_vendor));
  compare("minLocalRanks", shape.min_local_ranks);
  compare("maxLocalRanks", shape.max_local_ranks);
  compare("p2pChunkSize", shape.p2p_chunk);
  expect_json(comparison, "buffSizes", comm["buffSizes"], Json(shape.buffers));
  return comparison;
}

Comparison compare_channels(const Json& golden, const Job& job) {
  const Channels& channels = job.connection.channels;
  Comparison comparison;
  Json node_of_rank(std::vector<int>(static_cast<std::size_t>(job.nranks())));
  for (std::size_t node = 0; node < job.nodes.size(); ++node) {
    for (const int rank : job.nodes[node].ranks)
      node_of_rank[static_cast<std::size_t>(rank)] = node;
  }
  expect_json(comparison, "rankToNode", golden["rankToNode"], node_of_rank);
  compare_lists(comparison, "ring", golden["rings"], channels.rings.size(),
                [&](std::size_t c) { return ranks_json(channels.rings[c]); });
  compare_lists(comparison, "tree", golden["trees"], channels.trees.size(),
                [&](std::size_t c) { return places_json(channels.trees[c]); });
  expect(comparison, "treeDepth", golden["treeDepth"].get<int>(), channels.tree_depth);
  if (golden.contains("nvls") && !golden["nvls"].is_null()) {
    const Json& nvls = golden["nvls"];
    compare_lists(comparison, "nvls head", nvls["heads"], channels.nvls.heads.size(),
                  [&](std::size_t h) { return ranks_json(channels.nvls.heads[h]); });
    if (nvls.contains("tree")) {
      compare_lists(comparison, "nvls tree", nvls["tree"], channels.nvls.trees.size(),
                    [&](std::size_t t) { return places_json(channels.nvls.trees[t]); });
    }
  } else {
    expect(comparison, "nvls heads without NVLS", std::size_t{0}, channels.nvls.heads.size());
  }
  if (golden.contains("collnet") && !golden["collnet"].is_null()) {
    const Json& collnet = golden["collnet"];
    expect_json(comparison, "collnet heads", collnet["heads"], ranks_json(channels.collnet.heads));
    expect_json(comparison, "collnet direct heads", collnet["directHeads"],
                ranks_json(channels.collnet.direct_heads));
    compare_lists(comparison, "collnet chain", collnet["chain"], channels.collnet.chain.size(),
                  [&](std::size_t rank) {
                    const auto& [up, down] = channels.collnet.chain[rank];
                    return Json::array({to_int(up), to_int(down)});
                  });
  }
  return comparison;
}

}  // namespace ringside::oracle
