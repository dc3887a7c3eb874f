#include "tests/support/golden_shape.h"

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

namespace ringside::oracle {
namespace {

PathType path_type(const Json& golden, const std::string& name) {
  const Json& names = golden.at("pathTypes");
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return static_cast<PathType>(i);
  }
  throw std::runtime_error("unknown path type " + name);
}

GraphSummary graph(const Json& golden, GraphId id, const char* key) {
  const Json& merged = golden.at("merged").at(key);
  // Its latency is not merged over the ranks: the tuner uses rank 0's own.
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
  summary.type_intra = path_type(golden, merged.at("typeIntra"));
  summary.type_inter = path_type(golden, merged.at("typeInter"));
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
  shape.cpu_arch = static_cast<CpuArch>(comm.at("cpuArch").get<int>());
  shape.cpu_vendor = static_cast<CpuVendor>(comm.at("cpuVendor").get<int>());
  shape.graphs = {graph(golden, GraphId::Ring, "ring"), graph(golden, GraphId::Tree, "tree"),
                  graph(golden, GraphId::CollNetChain, "collnetChain"),
                  graph(golden, GraphId::Nvls, "nvls"),
                  graph(golden, GraphId::CollNetDirect, "collnetDirect")};
  shape.max_tree_pattern = static_cast<Pattern>(comm.at("maxTreePattern").get<int>());
  for (const Json& system : golden.at("systems")) {
    const Json& switches = system.at("topo").at("nvswitches");
    shape.has_nvswitch |= switches.is_array() ? !switches.empty() : switches != 0;
  }
  shape.nchannels = comm.at("nChannels");
  shape.nvls_channels = comm.at("nvlsChannels");
  shape.has_nvls = comm.at("nvlsSupport") == 1;
  if (golden.contains("nvls")) shape.nvls_heads = golden.at("nvls").at("nHeads");
  shape.nvls_chunk = comm.at("nvlsChunkSize");
  shape.nvls_tree_chunk = comm.at("nvlsTreeMaxChunkSize");
  shape.has_collnet = comm.at("collnetEnable") == 1;
  shape.has_collnet_chain = comm.at("collNetChainSupport") == 1;
  if (golden.contains("collnet")) {
    shape.collnet_heads = static_cast<int>(golden.at("collnet").at("directHeads").size());
    shape.collnet_depth = shape.nranks > shape.nnodes ? 2 : 1;
  }
  shape.p2p_channels = comm.at("p2pnChannels");
  shape.p2p_channels_per_peer = comm.at("p2pnChannelsPerPeer");
  shape.p2p_chunk = comm.at("p2pChunkSize");
  shape.buffers = comm.at("buffSizes").get<std::array<int, 3>>();
  shape.is_all_nvlink = comm.at("isAllNvlink") == 1;
  shape.is_all_direct_p2p = comm.at("isAllDirectP2p") == 1;
  shape.min_net_count = comm.at("minNetCount");
  shape.min_net_bw = comm.at("minNetBw").get<float>();
  return shape;
}

}  // namespace ringside::oracle
