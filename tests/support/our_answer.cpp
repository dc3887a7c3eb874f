#include <nlohmann/json.hpp>

#include "tests/support/answer.h"
#include "tests/support/our_systems.h"

namespace ringside::oracle {
namespace {

struct NamedGraph {
  const char* name;
  GraphId id;
};
constexpr NamedGraph kGraphNames[] = {{"ring", GraphId::Ring},
                                      {"tree", GraphId::Tree},
                                      {"collnetDirect", GraphId::CollNetDirect},
                                      {"collnetChain", GraphId::CollNetChain},
                                      {"nvls", GraphId::Nvls}};

Json summary_json(const GraphSummary& graph) {
  return {{"pattern", static_cast<int>(graph.pattern)},
          {"crossNic", graph.cross_nic},
          {"nChannels", graph.nchannels},
          {"bwIntra", graph.bw_intra},
          {"bwInter", graph.bw_inter},
          {"latencyInter", graph.latency_inter},
          {"typeIntra", to_string(graph.type_intra)},
          {"typeInter", to_string(graph.type_inter)},
          {"sameChannels", graph.same_channels ? 1 : 0}};
}

Json graph_json(const Graph& graph, const System& system) {
  Json json = summary_json(graph);
  json["nHops"] = graph.nhops;
  Json intra = Json::array();
  for (const std::vector<int>& channel : graph.intra) {
    Json order = Json::array();
    for (const int gpu : channel) order.push_back(system.gpus[static_cast<std::size_t>(gpu)].rank);
    intra.push_back(std::move(order));
  }
  json["intra"] = std::move(intra);
  if (!system.is_inter) return json;
  Json inter = Json::array();
  for (const auto& [in, out] : graph.inter) {
    inter.push_back({net_name(system, in), net_name(system, out)});
  }
  json["inter"] = std::move(inter);
  return json;
}

Json systems_json(const Job& job) {
  Json list = Json::array();
  for (const System& system : job.systems) list.push_back(topo_of(system));
  return list;
}

Json searches_json(const Job& job) {
  Json list = Json::array();
  for (std::size_t i = 0; i < job.systems.size(); ++i) {
    Json graphs = Json::object();
    for (const auto& [name, id] : kGraphNames) {
      graphs[name] = graph_json(job.reports[i].graphs[id], job.systems[i]);
    }
    list.push_back(std::move(graphs));
  }
  return list;
}

Json merged_json(const Job& job) {
  Json graphs = Json::object();
  for (const auto& [name, id] : kGraphNames) {
    graphs[name] = summary_json(job.connection.shape.graph(id));
  }
  return graphs;
}

Json counts_json(const Job& job) {
  const CommShape& shape = job.connection.shape;
  return {{"nRanks", shape.nranks},
          {"nNodes", shape.nnodes},
          {"nChannels", shape.nchannels},
          {"nvlsChannels", shape.nvls_channels},
          {"p2pnChannels", shape.p2p_channels},
          {"p2pnChannelsPerPeer", shape.p2p_channels_per_peer},
          {"nvlsSupport", shape.has_nvls ? 1 : 0},
          {"nvlsChunkSize", shape.nvls_chunk},
          {"nvlsTreeMaxChunkSize", shape.nvls_tree_chunk},
          {"collnetEnable", shape.has_collnet ? 1 : 0},
          {"collNetChainSupport", shape.has_collnet_chain ? 1 : 0},
          {"isAllNvlink", shape.is_all_nvlink ? 1 : 0},
          {"isAllDirectP2p", shape.is_all_direct_p2p ? 1 : 0},
          {"minNetCount", shape.min_net_count},
          {"minNetBw", shape.min_net_bw},
          {"maxTreePattern", static_cast<int>(shape.max_tree_pattern)},
          {"minCompCap", shape.min_cc},
          {"maxCompCap", shape.max_cc},
          {"cpuArch", static_cast<int>(shape.cpu_arch)},
          {"cpuVendor", static_cast<int>(shape.cpu_vendor)},
          {"minLocalRanks", shape.min_local_ranks},
          {"maxLocalRanks", shape.max_local_ranks},
          {"p2pChunkSize", shape.p2p_chunk},
          {"buffSizes", shape.buffers}};
}

Json ranks_json(const std::vector<Rank>& ranks) {
  Json list = Json::array();
  for (const Rank rank : ranks) list.push_back(to_int(rank));
  return list;
}

Json rank_lists_json(const std::vector<std::vector<Rank>>& lists) {
  Json all = Json::array();
  for (const auto& ranks : lists) all.push_back(ranks_json(ranks));
  return all;
}

/// Returns each rank's parent and children, by tree and by rank.
Json trees_json(const std::vector<std::vector<Channels::TreePlace>>& trees) {
  Json all = Json::array();
  for (const auto& tree : trees) {
    Json places = Json::array();
    for (const Channels::TreePlace& place : tree) {
      Json list = Json::array({to_int(place.parent)});
      for (const Rank child : place.children) list.push_back(to_int(child));
      places.push_back(std::move(list));
    }
    all.push_back(std::move(places));
  }
  return all;
}

Json channels_json(const Job& job) {
  const Channels& channels = job.connection.channels;
  std::vector<std::size_t> node_of_rank(static_cast<std::size_t>(job.nranks()));
  for (std::size_t node = 0; node < job.nodes.size(); ++node) {
    for (const int rank : job.nodes[node].ranks)
      node_of_rank[static_cast<std::size_t>(rank)] = node;
  }
  Json json{{"rankToNode", node_of_rank},
            {"rings", rank_lists_json(channels.rings)},
            {"trees", trees_json(channels.trees)},
            {"treeDepth", channels.tree_depth},
            {"nvls", nullptr},
            {"collnet", nullptr}};
  if (!channels.nvls.heads.empty()) {
    json["nvls"]["heads"] = rank_lists_json(channels.nvls.heads);
    if (!channels.nvls.trees.empty()) json["nvls"]["tree"] = trees_json(channels.nvls.trees);
  }
  if (!channels.collnet.heads.empty()) {
    Json chain = Json::array();
    for (const auto& [up, down] : channels.collnet.chain)
      chain.push_back({to_int(up), to_int(down)});
    json["collnet"] = {{"heads", ranks_json(channels.collnet.heads)},
                       {"directHeads", ranks_json(channels.collnet.direct_heads)},
                       {"chain", std::move(chain)}};
  }
  return json;
}

/// Returns whether the golden file lists the pair: it omits a pair that 2.31 refuses and still prices.
bool is_listed(const Cost& cost) {
  const bool is_refused = cost.obstacle == Obstacle::UnsafeLl128 ||
                          cost.obstacle == Obstacle::Algorithm ||
                          cost.obstacle == Obstacle::Protocol;
  return cost.bandwidth_gbs > 0 && !is_refused;
}

/// Returns [LL, LL128, Simple]; null for a protocol that must not be used.
Json costs_json(const CostTable& table, Collective collective, Algorithm algorithm) {
  Json list = Json::array();
  for (int p = 0; p < kProtocols; ++p) {
    const Cost& cost = table.cost(collective, algorithm, static_cast<Protocol>(p));
    list.push_back(is_listed(cost) ? Json{cost.latency_us, cost.bandwidth_gbs} : Json());
  }
  return list;
}

Json choice_json(const Tuner& tuner, Collective collective, Bytes bytes) {
  // The golden files gather and broadcast bytes.
  const DataType type = is_reduction(collective) ? DataType::Float32 : DataType::Int8;
  const auto chosen = tuner.choose({.collective = collective, .bytes = bytes, .type = type});
  if (!chosen) return {{"bytes", bytes.value}, {"refused", chosen.error().message}};
  Json row{{"bytes", bytes.value},
           {"algo", nccl_name(chosen->algorithm)},
           {"proto", nccl_name(chosen->protocol)},
           {"nMaxChannels", chosen->max_channels},
           {"nThreads", chosen->nthreads},
           {"timeUs", chosen->prediction.time_us},
           {"channelsUsed", chosen->channels.nchannels()},
           {"chunkBytes", chosen->chunk.value}};
  // With one rank, or less than an element for each, there is nothing to divide.
  const auto nranks = static_cast<std::uint64_t>(tuner.shape().nranks);
  const std::uint64_t least = collective == Collective::AllGather       ? nranks
                              : collective == Collective::ReduceScatter ? 4 * nranks
                                                                        : 0;
  if (nranks == 1 || bytes.value < least) row["channelsUsed"] = row["chunkBytes"] = nullptr;
  return row;
}

}  // namespace

Json our_costs(const Tuner& tuner) {
  const CostTable& table = tuner.table();
  Json json = Json::object();
  for (int c = 0; c < kTunedCollectives; ++c) {
    const auto collective = static_cast<Collective>(c);
    Json& costs = json["lat_bw"][nccl_name(collective)] = Json::object();
    for (int a = 0; a < kAlgorithms; ++a) {
      const auto algorithm = static_cast<Algorithm>(a);
      Json list = costs_json(table, collective, algorithm);
      if (list != Json{nullptr, nullptr, nullptr}) costs[nccl_name(algorithm)] = std::move(list);
    }
  }
  for (int a = 0; a < kAlgorithms; ++a) {
    const auto index = static_cast<std::size_t>(a);
    const char* const name = nccl_name(static_cast<Algorithm>(a));
    json["maxThreads"][name] = table.max_threads[index];
    json["threadThresholds"][name] = table.thread_thresholds[index];
  }
  return json;
}

Json our_choices(const Tuner& tuner) {
  Json json = Json::object();
  for (int c = 0; c < kTunedCollectives; ++c) {
    const auto collective = static_cast<Collective>(c);
    Json& rows = json[nccl_name(collective)] = Json::array();
    for (std::uint64_t bytes = 8; bytes <= std::uint64_t{8} << 30; bytes *= 2) {
      rows.push_back(choice_json(tuner, collective, Bytes{bytes}));
    }
  }
  return json;
}

Json our_part(const Job& job, const Tuner& tuner, Part part) {
  switch (part) {
    case Part::Systems:
      return systems_json(job);
    case Part::Searches:
      return searches_json(job);
    case Part::Merged:
      return merged_json(job);
    case Part::Counts:
      return counts_json(job);
    case Part::Channels:
      return channels_json(job);
    case Part::Costs:
      return our_costs(tuner);
    case Part::Choices:
      return our_choices(tuner);
  }
  return {};
}

}  // namespace ringside::oracle
