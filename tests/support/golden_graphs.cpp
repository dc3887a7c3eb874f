#include "tests/support/golden_graphs.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace ringside::oracle {
namespace {

constexpr std::array<const char*, kGraphs> kGraphNames{"ring", "tree", "collnetChain", "nvls",
                                                       "collnetDirect"};

PathType path_type(const Json& golden, const Json& name) {
  const Json& names = golden["pathTypes"];
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) throw std::runtime_error("no path type " + name.dump());
  return static_cast<PathType>(found - names.begin());
}

/// Returns the index of the GPU of global rank `rank`.
int gpu_index(const Json& topo, const Json& rank) {
  const Json& gpus = topo["gpus"];
  const auto found =
      std::find_if(gpus.begin(), gpus.end(), [&](const Json& gpu) { return gpu["rank"] == rank; });
  if (found == gpus.end()) throw std::runtime_error("no GPU of rank " + rank.dump());
  return static_cast<int>(found - gpus.begin());
}

/// `net` is a device number, or "host-device" in a domain of several hosts.
int net_index(const Json& topo, const Json& net) {
  const Json& nics = topo["nics"];
  const auto found = std::find_if(nics.begin(), nics.end(), [&](const Json& nic) {
    if (net.is_number()) return nic["dev"] == net;
    return std::to_string(nic["host"].get<int>()) + "-" + std::to_string(nic["dev"].get<int>()) ==
           net.get<std::string>();
  });
  if (found == nics.end()) throw std::runtime_error("no NIC " + net.dump());
  return static_cast<int>(found - nics.begin());
}

Graph graph_with_channels(const Json& golden, const Json& topo, const Json& json) {
  Graph graph;
  static_cast<GraphSummary&>(graph) = golden_summary(golden, json);
  for (const Json& channel : json["intra"]) {
    std::vector<int>& gpus = graph.intra.emplace_back();
    for (const Json& rank : channel) gpus.push_back(gpu_index(topo, rank));
  }
  if (json.contains("inter")) {
    for (const Json& nets : json["inter"]) {
      graph.inter.push_back({net_index(topo, nets[0]), net_index(topo, nets[1])});
    }
  }
  return graph;
}

/// Returns the rate of one NVLink in GB/s, by compute capability.
float nvlink_gbs(int sm) {
  if (sm >= 100) return 40.1F;
  if (sm >= 90) return 20.6F;
  if (sm == 86) return 12;
  return sm >= 60 && sm < 70 ? 18 : 20;
}

/// Returns the fewest channels over all peers: two for each NVLink's worth of the path to a directly connected GPU, 2
/// without NVLink; across nodes one for each NIC or each 14 GB/s of them.
int p2p_channels_per_peer(const Json& golden, const Json& topo) {
  const Json& types = topo["gpuGpu"]["type"];
  const Json& bandwidths = topo["gpuGpu"]["bw"];
  int fewest = 64;
  for (std::size_t from = 0; from < types.size(); ++from) {
    const float link = nvlink_gbs(topo["gpus"][from]["sm"].get<int>());
    for (std::size_t to = 0; to < types.size(); ++to) {
      if (to == from) continue;
      const int type = types[from][to].get<int>();
      const bool by_nvlink =
          type == static_cast<int>(PathType::Nvl) || type == static_cast<int>(PathType::Nvb);
      const int links = static_cast<int>(bandwidths[from][to].get<float>() / link);
      fewest = std::min(fewest, by_nvlink ? 2 * std::max(1, links) : 2);
    }
  }
  if (golden["nNodes"].get<int>() == 1) return fewest;
  const int nets = golden["comm"]["minNetCount"].get<int>();
  const int gbs = static_cast<int>(golden["comm"]["minNetBw"].get<float>());
  return std::min(fewest, nets == 0 ? 2 : std::max(nets, (nets * gbs + 13) / 14));
}

NodeReport report_of(const Json& golden, std::size_t index) {
  const Json& topo = golden["systems"][index]["topo"];
  const Json& comm = golden["comm"];
  const Json& gpus = topo["gpus"];
  NodeReport report;
  report.graphs = golden_graphs(golden, index);
  report.nranks = static_cast<int>(gpus.size());
  report.min_cc = report.max_cc = gpus[0]["sm"].get<int>();
  for (const Json& gpu : gpus) {
    report.min_cc = std::min(report.min_cc, gpu["sm"].get<int>());
    report.max_cc = std::max(report.max_cc, gpu["sm"].get<int>());
  }
  report.cpu_arch = static_cast<CpuArch>(topo["cpus"][0]["arch"].get<int>());
  report.cpu_vendor = static_cast<CpuVendor>(topo["cpus"][0]["vendor"].get<int>());
  report.has_nvswitch = topo["nvswitches"].get<int>() > 0;
  report.is_all_nvlink = comm["isAllNvlink"] == 1;
  report.is_all_direct_p2p = comm["isAllDirectP2p"] == 1;
  report.p2p_channels_per_peer = p2p_channels_per_peer(golden, topo);
  report.net_count = comm["minNetCount"].get<int>();
  report.min_net_bw = comm["minNetBw"].get<float>();
  return report;
}

/// Returns the index of the system that a node is like: hosts of several kinds follow each other, and the parts of a
/// split host recur with each host.
std::size_t system_of(const Json& golden, int node) {
  const Json& systems = golden["systems"];
  const Json& hosts = golden["hosts"];
  const bool is_mixed = std::any_of(hosts.begin(), hosts.end(),
                                    [&](const Json& run) { return run["xml"] != hosts[0]["xml"]; });
  if (!is_mixed) return static_cast<std::size_t>(node) % systems.size();
  std::size_t index = 0;
  while (index + 1 < systems.size() && systems[index + 1]["node"].get<int>() <= node) ++index;
  return index;
}

}  // namespace

const char* golden_graph_name(GraphId id) { return kGraphNames[static_cast<std::size_t>(id)]; }

GraphSummary golden_summary(const Json& golden, const Json& graph) {
  GraphSummary summary;
  summary.id = static_cast<GraphId>(graph["id"].get<int>());
  summary.pattern = static_cast<Pattern>(graph["pattern"].get<int>());
  summary.is_collnet = graph["collNet"] == 1;
  summary.nchannels = graph["nChannels"].get<int>();
  summary.cross_nic = graph["crossNic"].get<int>();
  summary.bw_intra = graph["bwIntra"].get<float>();
  summary.bw_inter = graph["bwInter"].get<float>();
  summary.latency_inter = graph["latencyInter"].get<float>();
  summary.type_intra = path_type(golden, graph["typeIntra"]);
  summary.type_inter = path_type(golden, graph["typeInter"]);
  summary.same_channels = graph["sameChannels"] == 1;
  summary.nhops = graph.value("nHops", 0);
  return summary;
}

Graphs golden_graphs(const Json& golden, std::size_t index) {
  const Json& system = golden["systems"][index];
  Graphs graphs;
  for (std::size_t id = 0; id < kGraphNames.size(); ++id) {
    graphs.by_id[id] =
        graph_with_channels(golden, system["topo"], system["search"][kGraphNames[id]]);
  }
  return graphs;
}

GoldenNodes golden_nodes(const Json& golden) {
  GoldenNodes result;
  for (std::size_t index = 0; index < golden["systems"].size(); ++index) {
    result.reports.push_back(report_of(golden, index));
  }
  const Json& rank_to_node = golden["rankToNode"];
  for (int rank = 0; rank < static_cast<int>(rank_to_node.size()); ++rank) {
    const int node = rank_to_node[static_cast<std::size_t>(rank)].get<int>();
    if (node < static_cast<int>(result.nodes.size())) continue;
    // GPUs are in the order of the system; its ranks are shifted from those that were searched.
    const std::size_t index = system_of(golden, node);
    const Json& system = golden["systems"][index];
    JobNode& job_node = result.nodes.emplace_back();
    job_node.report = static_cast<int>(index);
    for (const Json& gpu : system["topo"]["gpus"]) {
      job_node.ranks.push_back(rank + gpu["rank"].get<int>() - system["fromRank"].get<int>());
    }
  }
  return result;
}

}  // namespace ringside::oracle
