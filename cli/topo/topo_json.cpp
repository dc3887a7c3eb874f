#include "cli/topo/topo_json.h"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "study/explain/topo_facts.h"

namespace ringside::cli {
namespace {

constexpr std::array<const char*, kNodeKinds> kKindNames{"GPU", "PCI", "NVS", "CPU",
                                                         "NIC", "NET", "DEV"};

const char* key_of(GraphId id) {
  switch (id) {
    case GraphId::Ring:
      return "ring";
    case GraphId::Tree:
      return "tree";
    case GraphId::CollNetChain:
      return "collnet_chain";
    case GraphId::Nvls:
      return "nvls";
    case GraphId::CollNetDirect:
      return "collnet_direct";
  }
  return "";
}
constexpr std::array<GraphId, kGraphs> kOrder{GraphId::Ring, GraphId::Tree, GraphId::CollNetDirect,
                                              GraphId::CollNetChain, GraphId::Nvls};

std::string name_of(const System& system, NodeRef ref) {
  const SystemNode& node = system.node(ref);
  return fmt::format("{}/{}-{:x}", kKindNames[static_cast<std::size_t>(ref.kind)], node.host,
                     node.id);
}

int host_of(const System& system, NodeKind kind, int index) {
  return system.node({kind, index}).host;
}

Json devices(const System& system) {
  Json cpus = Json::array(), gpus = Json::array(), nics = Json::array();
  for (int i = 0; i < system.count(NodeKind::Cpu); ++i) {
    const CpuInfo& cpu = system.cpus[static_cast<std::size_t>(i)];
    cpus.push_back({{"host", host_of(system, NodeKind::Cpu, i)},
                    {"numa", system.node({NodeKind::Cpu, i}).id},
                    {"arch", static_cast<int>(cpu.arch)},
                    {"vendor", static_cast<int>(cpu.vendor)},
                    {"model", cpu.model}});
  }
  for (int i = 0; i < system.count(NodeKind::Gpu); ++i) {
    const GpuInfo& gpu = system.gpus[static_cast<std::size_t>(i)];
    gpus.push_back({{"rank", gpu.rank},
                    {"host", host_of(system, NodeKind::Gpu, i)},
                    {"dev", gpu.dev},
                    {"busid", gpu.bus_id},
                    {"sm", gpu.sm},
                    {"gdr", static_cast<int>(gpu.gdr)}});
  }
  for (int i = 0; i < system.count(NodeKind::Net); ++i) {
    const NetInfo& net = system.nets[static_cast<std::size_t>(i)];
    const bool is_local = net.local_gpu >= 0;
    nics.push_back({{"host", host_of(system, NodeKind::Net, i)},
                    {"name", net.name},
                    {"dev", net.dev},
                    {"guid", fmt::format("{:#x}", net.guid)},
                    {"port", net.port},
                    {"bw", as_written(net.bandwidth)},
                    {"latency", as_written(net.latency_us)},
                    {"gdr", static_cast<int>(net.gdr)},
                    {"coll", static_cast<int>(net.coll)},
                    {"local_gpu_rank",
                     is_local ? system.gpus[static_cast<std::size_t>(net.local_gpu)].rank : -1}});
  }
  return {{"cpus", std::move(cpus)},
          {"nvswitches", system.count(NodeKind::Nvs)},
          {"pci_switches", system.count(NodeKind::Pci)},
          {"gpus", std::move(gpus)},
          {"nics", std::move(nics)}};
}

Json links(const System& system) {
  Json all = Json::array();
  for (int kind = 0; kind < kNodeKinds; ++kind) {
    for (const SystemNode& node : system.nodes[static_cast<std::size_t>(kind)]) {
      for (const LinkId id : node.links) {
        const Link& link = system.link(id);
        all.push_back(Json::array({name_of(system, link.from), name_of(system, link.to),
                                   to_string(link.kind), as_written(link.bandwidth)}));
      }
    }
  }
  return all;
}

Json matrix(const System& system, NodeKind from, NodeKind to) {
  Json types = Json::array(), bandwidths = Json::array(), hops = Json::array();
  for (int i = 0; i < system.count(from); ++i) {
    Json type = Json::array(), bandwidth = Json::array(), hop = Json::array();
    for (int j = 0; j < system.count(to); ++j) {
      const Path& path = system.path({from, i}, {to, j});
      type.push_back(static_cast<int>(path.type));
      bandwidth.push_back(as_written(path.bandwidth));
      hop.push_back(path.hops());
    }
    types.push_back(std::move(type));
    bandwidths.push_back(std::move(bandwidth));
    hops.push_back(std::move(hop));
  }
  return {{"type", std::move(types)}, {"bw", std::move(bandwidths)}, {"hops", std::move(hops)}};
}

Json system_json(const System& system, int node, int from_rank) {
  Json json{{"from_rank", from_rank},
            {"node", node},
            {"inter", static_cast<int>(system.is_inter)},
            {"nhosts", system.nhosts},
            {"max_bw", as_written(system.max_bandwidth)},
            {"total_bw", as_written(system.total_bandwidth)}};
  json.update(devices(system));
  // The links of a whole NVLink domain repeat those of its hosts.
  json["links"] = system.nhosts == 1 ? links(system) : Json::array();
  json["gpu_gpu"] = matrix(system, NodeKind::Gpu, NodeKind::Gpu);
  json["gpu_net"] = matrix(system, NodeKind::Gpu, NodeKind::Net);
  json["net_gpu"] = matrix(system, NodeKind::Net, NodeKind::Gpu);
  json["gpu_cpu"] = matrix(system, NodeKind::Gpu, NodeKind::Cpu);
  return json;
}

Json summary_json(const GraphSummary& graph) {
  return {{"id", static_cast<int>(graph.id)},
          {"pattern", static_cast<int>(graph.pattern)},
          {"cross_nic", graph.cross_nic},
          {"collnet", static_cast<int>(graph.is_collnet)},
          {"nchannels", graph.nchannels},
          {"bw_intra", as_written(graph.bw_intra)},
          {"bw_inter", as_written(graph.bw_inter)},
          {"latency_inter", as_written(graph.latency_inter)},
          {"type_intra", to_string(graph.type_intra)},
          {"type_inter", to_string(graph.type_inter)},
          {"same_channels", static_cast<int>(graph.same_channels)}};
}

/// Returns a NIC by its device number, within a domain of several hosts as "host-dev".
Json net_json(const System& system, int net) {
  const int dev = system.nets[static_cast<std::size_t>(net)].dev;
  if (system.nhosts == 1) return dev;
  return fmt::format("{}-{}", host_of(system, NodeKind::Net, net), dev);
}

Json graph_json(const System& system, const Graph& graph) {
  Json json = summary_json(graph);
  Json intra = Json::array(), inter = Json::array();
  for (const auto& channel : graph.intra) {
    Json ranks = Json::array();
    for (const int gpu : channel) {
      ranks.push_back(system.gpus[static_cast<std::size_t>(gpu)].rank);
    }
    intra.push_back(std::move(ranks));
  }
  for (const auto& [in, out] : graph.inter) {
    inter.push_back(Json::array({net_json(system, in), net_json(system, out)}));
  }
  json["nhops"] = graph.nhops;
  json["intra"] = std::move(intra);
  if (system.is_inter) json["inter"] = std::move(inter);
  return json;
}

Json rank_json(Rank rank) { return to_int(rank); }

template <typename Ranks>
Json ranks_json(const Ranks& ranks) {
  Json json = Json::array();
  for (const Rank rank : ranks) json.push_back(rank_json(rank));
  return json;
}

/// [parent, children...] of each rank; -1: no parent.
Json places_json(const std::vector<Channels::TreePlace>& places) {
  Json json = Json::array();
  for (const Channels::TreePlace& place : places) {
    Json row = Json::array();
    row.push_back(rank_json(place.parent));
    for (const Rank child : place.children) row.push_back(rank_json(child));
    json.push_back(std::move(row));
  }
  return json;
}

template <typename Rows, typename ToJson>
Json rows_json(const Rows& rows, ToJson to_json) {
  Json json = Json::array();
  for (const auto& row : rows) json.push_back(to_json(row));
  return json;
}

Json nvls_json(const Channels& channels) {
  if (channels.nvls.heads.empty()) return nullptr;
  return {{"nheads", channels.nvls.heads.size()},
          {"heads", rows_json(channels.nvls.heads, ranks_json<std::vector<Rank>>)},
          {"tree", rows_json(channels.nvls.trees, places_json)}};
}

Json collnet_json(const Channels& channels) {
  const Channels::CollNet& collnet = channels.collnet;
  if (collnet.chain.empty() && collnet.heads.empty()) return nullptr;
  return {{"heads", ranks_json(collnet.heads)},
          {"direct_heads", ranks_json(collnet.direct_heads)},
          {"chain", rows_json(collnet.chain, ranks_json<std::array<Rank, 2>>)}};
}

Json comm_json(const CommShape& shape) {
  return {{"nvls_support", static_cast<int>(shape.has_nvls)},
          {"nvls_chunk_size", shape.nvls_chunk},
          {"nvls_tree_max_chunk_size", shape.nvls_tree_chunk},
          {"collnet_enable", static_cast<int>(shape.has_collnet)},
          {"collnet_chain_support", static_cast<int>(shape.has_collnet_chain)},
          {"is_all_nvlink", static_cast<int>(shape.is_all_nvlink)},
          {"is_all_direct_p2p", static_cast<int>(shape.is_all_direct_p2p)},
          {"min_net_count", shape.min_net_count},
          {"min_net_bw", as_written(shape.min_net_bw)},
          {"max_tree_pattern", static_cast<int>(shape.max_tree_pattern)},
          {"min_comp_cap", shape.min_cc},
          {"max_comp_cap", shape.max_cc},
          {"cpu_arch", static_cast<int>(shape.cpu_arch)},
          {"cpu_vendor", static_cast<int>(shape.cpu_vendor)},
          {"min_local_ranks", shape.min_local_ranks},
          {"max_local_ranks", shape.max_local_ranks},
          {"p2p_chunk_size", shape.p2p_chunk},
          {"buff_sizes", shape.buffers}};
}

}  // namespace

double as_written(float value) { return std::strtod(fmt::format("{}", value).c_str(), nullptr); }

std::string hosts_text(const JobHosts& hosts) {
  std::string text;
  for (const HostRun& run : hosts.runs) {
    text += fmt::format("{}{} x {}", text.empty() ? "" : ", ", run.host.name, run.count);
  }
  return text;
}

Json topo_document(const JobHosts& hosts, const Job& job) {
  const study::TopoFacts facts = study::topo_facts(job);
  const CommShape& shape = job.connection.shape;
  const Channels& channels = job.connection.channels;

  Json runs = Json::array(), types = Json::array();
  for (const HostRun& run : hosts.runs) {
    runs.push_back({{"name", run.host.name}, {"count", run.count}});
  }
  for (int type = 0; type <= static_cast<int>(PathType::Dis); ++type) {
    types.push_back(to_string(static_cast<PathType>(type)));
  }
  Json systems = Json::array(), search = Json::array(), merged = Json::object();
  for (const study::NodeFacts& kind : facts.kinds) {
    const System& system = job.systems[kind.report];
    const int node = kind.nodes.front();
    systems.push_back(system_json(system, node, kind.first_rank));
    Json graphs = Json::object();
    graphs["node"] = node;
    for (const GraphId id : kOrder) {
      graphs[key_of(id)] = graph_json(system, job.reports[kind.report].graphs[id]);
    }
    search.push_back(std::move(graphs));
  }
  for (const GraphId id : kOrder) merged[key_of(id)] = summary_json(shape.graph(id));

  return {{"schema", "ringside.topo/1"},
          {"hosts", std::move(runs)},
          {"hosts_per_nvl_domain", hosts.hosts_per_nvl_domain},
          {"nranks", job.nranks()},
          {"nnodes", shape.nnodes},
          {"rank_to_node", facts.node_of_rank},
          {"path_types", std::move(types)},
          {"system", std::move(systems)},
          {"graphs", {{"search", std::move(search)}, {"merged", std::move(merged)}}},
          {"nchannels", shape.nchannels},
          {"nvls_channels", shape.nvls_channels},
          {"p2p_channels", shape.p2p_channels},
          {"p2p_channels_per_peer", shape.p2p_channels_per_peer},
          {"comm", comm_json(shape)},
          {"rings", rows_json(channels.rings, ranks_json<std::vector<Rank>>)},
          {"trees", rows_json(channels.trees, places_json)},
          {"tree_depth", channels.tree_depth},
          {"nvls", nvls_json(channels)},
          {"collnet", collnet_json(channels)}};
}

}  // namespace ringside::cli
