#include "tests/support/our_systems.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace ringside::oracle {
namespace {

constexpr const char* kKinds[] = {"GPU", "PCI", "NVS", "CPU", "NIC", "NET", "DEV"};

std::string name_of(const System& system, NodeRef ref) {
  return fmt::format("{}/{}-{:x}", kKinds[static_cast<int>(ref.kind)], system.node(ref).host,
                     system.node(ref).id);
}

const char* name_of(LinkKind kind) {
  return kind == LinkKind::Pci ? "PCI" : to_string(static_cast<PathType>(kind));
}

Json cpus_json(const System& system) {
  Json list = Json::array();
  for (int i = 0; i < system.count(NodeKind::Cpu); ++i) {
    const CpuInfo& cpu = system.cpus[static_cast<std::size_t>(i)];
    list.push_back({{"host", system.node({NodeKind::Cpu, i}).host},
                    {"numa", system.node({NodeKind::Cpu, i}).id},
                    {"arch", static_cast<int>(cpu.arch)},
                    {"vendor", static_cast<int>(cpu.vendor)},
                    {"model", cpu.model}});
  }
  return list;
}

Json gpus_json(const System& system) {
  Json list = Json::array();
  for (int i = 0; i < system.count(NodeKind::Gpu); ++i) {
    const GpuInfo& gpu = system.gpus[static_cast<std::size_t>(i)];
    list.push_back({{"rank", gpu.rank},
                    {"host", system.node({NodeKind::Gpu, i}).host},
                    {"dev", gpu.dev},
                    {"busid", gpu.bus_id},
                    {"sm", gpu.sm},
                    {"gdr", gpu.gdr ? 1 : 0}});
  }
  return list;
}

Json nets_json(const System& system) {
  Json list = Json::array();
  for (int i = 0; i < system.count(NodeKind::Net); ++i) {
    const NetInfo& net = system.nets[static_cast<std::size_t>(i)];
    const int local = net.local_gpu;
    list.push_back(
        {{"host", system.node({NodeKind::Net, i}).host},
         {"dev", net.dev},
         {"guid", fmt::format("0x{:x}", net.guid)},
         {"port", net.port},
         {"bw", net.bandwidth},
         {"latency", net.latency_us},
         {"gdr", net.gdr ? 1 : 0},
         {"coll", net.coll ? 1 : 0},
         {"localGpuRank", local < 0 ? -1 : system.gpus[static_cast<std::size_t>(local)].rank}});
  }
  return list;
}

Json links_json(const System& system) {
  Json list = Json::array();
  for (const std::vector<SystemNode>& nodes : system.nodes) {
    for (const SystemNode& node : nodes) {
      for (const LinkId id : node.links) {
        const Link& link = system.link(id);
        list.push_back({name_of(system, link.from), name_of(system, link.to), name_of(link.kind),
                        link.bandwidth});
      }
    }
  }
  return list;
}

Json paths_json(const System& system, NodeKind from, NodeKind to) {
  Json types = Json::array(), bandwidths = Json::array(), hops = Json::array();
  for (int a = 0; a < system.count(from); ++a) {
    Json type = Json::array(), bandwidth = Json::array(), hop = Json::array();
    for (int b = 0; b < system.count(to); ++b) {
      const Path& path = system.path({from, a}, {to, b});
      type.push_back(static_cast<int>(path.type));
      bandwidth.push_back(path.bandwidth);
      hop.push_back(path.hops());
    }
    types.push_back(std::move(type));
    bandwidths.push_back(std::move(bandwidth));
    hops.push_back(std::move(hop));
  }
  return {{"type", std::move(types)}, {"bw", std::move(bandwidths)}, {"hops", std::move(hops)}};
}

}  // namespace

Json topo_of(const System& system) {
  return {{"inter", system.is_inter ? 1 : 0},
          {"nHosts", system.nhosts},
          {"maxBw", system.max_bandwidth},
          {"totalBw", system.total_bandwidth},
          {"cpus", cpus_json(system)},
          {"nvswitches", system.count(NodeKind::Nvs)},
          {"pciSwitches", system.count(NodeKind::Pci)},
          {"gpus", gpus_json(system)},
          {"nics", nets_json(system)},
          {"links", system.nhosts > 1 ? Json::array() : links_json(system)},
          {"gpuGpu", paths_json(system, NodeKind::Gpu, NodeKind::Gpu)},
          {"gpuNet", paths_json(system, NodeKind::Gpu, NodeKind::Net)},
          {"netGpu", paths_json(system, NodeKind::Net, NodeKind::Gpu)},
          {"gpuCpu", paths_json(system, NodeKind::Gpu, NodeKind::Cpu)}};
}

Json net_name(const System& system, int net) {
  const int dev = system.nets[static_cast<std::size_t>(net)].dev;
  if (system.nhosts == 1) return dev;
  return fmt::format("{}-{}", system.node({NodeKind::Net, net}).host, dev);
}

}  // namespace ringside::oracle
