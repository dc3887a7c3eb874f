#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/support/golden_compare.h"

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

Json system_json(const System& system) {
  return {{"inter", system.is_inter ? 1 : 0},
          {"nHosts", system.nhosts},
          {"maxBw", system.max_bandwidth},
          {"totalBw", system.total_bandwidth},
          {"cpus", cpus_json(system)},
          {"nvswitches", system.count(NodeKind::Nvs)},
          {"pciSwitches", system.count(NodeKind::Pci)},
          {"gpus", gpus_json(system)},
          {"nics", nets_json(system)},
          {"links", links_json(system)},
          {"gpuGpu", paths_json(system, NodeKind::Gpu, NodeKind::Gpu)},
          {"gpuNet", paths_json(system, NodeKind::Gpu, NodeKind::Net)},
          {"netGpu", paths_json(system, NodeKind::Net, NodeKind::Gpu)},
          {"gpuCpu", paths_json(system, NodeKind::Gpu, NodeKind::Cpu)}};
}

/// The golden files carry some seven digits.
bool is_near(const Json& golden, const Json& ours) {
  if (!golden.is_number_float() && !ours.is_number_float()) return golden == ours;
  const auto a = golden.get<double>(), b = ours.get<double>();
  return std::abs(a - b) <= 1e-5 * std::max(std::abs(a), std::abs(b));
}

void compare_values(Comparison& comparison, const std::string& where, const Json& golden,
                    const Json& ours) {
  if (golden.is_object() && ours.is_object()) {
    for (const auto& [key, value] : golden.items()) {
      compare_values(comparison, where + " " + key, value, ours.contains(key) ? ours[key] : Json());
    }
  } else if (golden.is_array() && ours.is_array() && golden.size() == ours.size()) {
    for (std::size_t i = 0; i < golden.size(); ++i) {
      compare_values(comparison, fmt::format("{}[{}]", where, i), golden[i], ours[i]);
    }
  } else {
    ++comparison.checked;
    const bool are_numbers = golden.is_number() && ours.is_number();
    if (are_numbers ? is_near(golden, ours) : golden == ours) return;
    comparison.differences.push_back(
        fmt::format("{}: {}, ours {}", where, golden.dump(), ours.dump()));
  }
}

}  // namespace

Comparison compare_systems(const Json& golden, const Job& job) {
  Comparison comparison;
  for (const Json& system : golden["systems"]) {
    const auto node = static_cast<std::size_t>(system["node"].get<int>());
    const System& ours = job.systems[static_cast<std::size_t>(job.nodes.at(node).report)];
    Json answer = system_json(ours);
    // Links are listed for single hosts only.
    if (ours.nhosts > 1) answer["links"] = Json::array();
    compare_values(comparison, fmt::format("node {}", node), system["topo"], answer);
  }
  return comparison;
}

}  // namespace ringside::oracle
