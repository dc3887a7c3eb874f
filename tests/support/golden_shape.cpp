#include "tests/support/golden_shape.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

namespace ringside::oracle {
namespace {

/// Compares names: older releases lack some types and number the others consecutively.
PathType path_type(const std::string& name) {
  for (int i = 0; i <= static_cast<int>(PathType::Dis); ++i) {
    if (to_string(static_cast<PathType>(i)) == name) return static_cast<PathType>(i);
  }
  throw std::runtime_error("unknown path type " + name);
}

/// A value that a release did not have is null, and keeps the default of the time before it was introduced.
template <typename Value>
Value value_or(const Json& json, Value missing) {
  return json.is_null() ? missing : json.get<Value>();
}

/// Returns the number of channels before NVLS requires more.
///
/// source  docs/lab/agreement.md: NCCL 2.20 and 2.21 connect.cc, for a job without CollNet
int collective_channels(const CommShape& shape) {
  const GraphSummary& ring = shape.graph(GraphId::Ring);
  int count = 2 * ring.nchannels;
  if (shape.min_cc == 90 && shape.nnodes > 1 && ring.bw_intra > 45 && count < 16) count *= 2;
  return shape.has_collnet || shape.nchannels != shape.nvls_channels
             ? shape.nchannels
             : std::min(count, shape.nchannels);
}

GraphSummary graph(const Json& golden, GraphId id, const char* key) {
  // Up to 2.21 there was one graph for both kinds of CollNet.
  if (golden.at("merged").at(key).is_null()) key = "collnetChain";
  const Json& merged = golden.at("merged").at(key);
  // The latency is not merged over the ranks: the tuner uses that of rank 0.
  const Json& own = golden.at("systems").at(0).at("search").at(key);
  GraphSummary summary;
  summary.id = id;
  summary.pattern = static_cast<Pattern>(merged.at("pattern").get<int>());
  summary.is_collnet = merged.at("collNet") == 1;
  summary.nchannels = merged.at("nChannels");
  summary.cross_nic = merged.at("crossNic");
  summary.bw_intra = merged.at("bwIntra").get<float>();
  summary.bw_inter = merged.at("bwInter").get<float>();
  summary.latency_inter = own.at("latencyInter").get<float>();
  summary.type_intra = path_type(merged.at("typeIntra"));
  summary.type_inter = path_type(merged.at("typeInter"));
  summary.same_channels = merged.at("sameChannels") == 1;
  return summary;
}

}  // namespace

CommShape golden_shape(const Json& golden) {
  const Json& comm = golden.at("comm");
  CommShape shape;
  shape.nranks = golden.at("nRanks");
  shape.nnodes = golden.at("nNodes");
  shape.min_local_ranks = comm.at("minLocalRanks");
  shape.max_local_ranks = comm.at("maxLocalRanks");
  shape.min_cc = comm.at("minCompCap");
  shape.max_cc = comm.at("maxCompCap");
  const Json& own_cpu = golden.at("systems").at(0).at("topo").at("cpus").at(0);
  shape.own_cpu_arch = static_cast<CpuArch>(own_cpu.at("arch").get<int>());
  shape.own_cpu_vendor = static_cast<CpuVendor>(own_cpu.at("vendor").get<int>());
  const int own_arch = own_cpu.at("arch");
  const int own_vendor = own_cpu.at("vendor");
  shape.cpu_arch = static_cast<CpuArch>(value_or(comm.at("cpuArch"), own_arch));
  shape.cpu_vendor = static_cast<CpuVendor>(value_or(comm.at("cpuVendor"), own_vendor));
  shape.graphs = {graph(golden, GraphId::Ring, "ring"), graph(golden, GraphId::Tree, "tree"),
                  graph(golden, GraphId::CollNetChain, "collnetChain"),
                  graph(golden, GraphId::Nvls, "nvls"),
                  graph(golden, GraphId::CollNetDirect, "collnetDirect")};
  shape.max_tree_pattern = static_cast<Pattern>(value_or(comm.at("maxTreePattern"), 1));
  for (const Json& system : golden.at("systems")) {
    const Json& switches = system.at("topo").at("nvswitches");
    shape.has_nvswitch |= switches.is_array() ? !switches.empty() : switches != 0;
  }
  shape.nchannels = comm.at("nChannels");
  shape.nvls_channels = comm.at("nvlsChannels");
  shape.has_nvls = comm.at("nvlsSupport") == 1;
  if (golden.contains("nvls")) shape.nvls_heads = golden.at("nvls").at("nHeads");
  shape.nvls_chunk = value_or(comm.at("nvlsChunkSize"), 131072);
  shape.nvls_tree_chunk =
      value_or(comm.at("nvlsTreeMaxChunkSize"), shape.nnodes >= 4 ? 65536 : shape.nvls_chunk);
  shape.has_collnet = comm.at("collnetEnable") == 1;
  shape.has_collnet_chain = value_or(comm.at("collNetChainSupport"), 1) == 1;
  if (golden.contains("collnet")) {
    const Json& collnet = golden.at("collnet");
    const Json& direct = collnet.at("directHeads");  // a separate list from 2.20 on
    shape.collnet_heads = static_cast<int>((direct.empty() ? collnet.at("heads") : direct).size());
    shape.collnet_depth = shape.nranks > shape.nnodes ? 2 : 1;
  }
  shape.p2p_channels = comm.at("p2pnChannels");
  shape.p2p_channels_per_peer = comm.at("p2pnChannelsPerPeer");
  shape.p2p_chunk = comm.at("p2pChunkSize");
  shape.buffers = comm.at("buffSizes").get<std::array<int, 3>>();
  shape.is_all_nvlink = value_or(comm.at("isAllNvlink"), 0) == 1;
  shape.is_all_direct_p2p = value_or(comm.at("isAllDirectP2p"), 0) == 1;
  shape.min_net_count = value_or(comm.at("minNetCount"), 0);
  shape.min_net_bw = value_or(comm.at("minNetBw"), 0.0F);
  shape.collective_channels = collective_channels(shape);
  return shape;
}

}  // namespace ringside::oracle
