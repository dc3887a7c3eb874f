#include "diag/audit/summary.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/wording.h"

namespace ringside::audit {

using namespace logs;  // most names below are its record types

std::string transport_name(Via via, bool has_gdr, const std::string& net) {
  const std::string tail = net + (has_gdr ? "/GDRDMA" : "");
  if (via == Via::Net) return "NET/" + tail;
  if (via == Via::CollNet) return "COLLNET/" + tail;
  constexpr const char* kNames[] = {"P2P/direct pointer", "P2P/IPC",      "P2P/CUMEM", "P2P/MNNVL",
                                    "P2P/common device",  "P2P/indirect", "SHM"};
  return via <= Via::Shm ? kNames[static_cast<std::size_t>(via)] : "unknown";
}

std::map<std::string, std::uint64_t> transports_of(const JobFacts& facts, const CommFacts& comm) {
  std::map<std::string, std::uint64_t> counts;
  for (const Link& link : comm.links) {
    counts[transport_name(link.via, link.gdr, facts.nets[link.net])] += link.count;
  }
  return counts;
}

std::map<std::string, std::uint64_t> transports_of(const JobFacts& facts) {
  std::map<std::string, std::uint64_t> counts;
  for (const EdgeFacts& edge : facts.edges) {
    counts[transport_name(edge.via, edge.gdr, edge.net)] += edge.said.evidence.count();
  }
  return counts;
}

std::string versions_text(const JobFacts& facts) {
  std::vector<std::string> names;
  for (const auto& [text, version] : facts.version_facts) {
    if (version.is_of_benchmark || version.is_of_text) continue;
    names.push_back((version.is_rccl ? "RCCL " : "NCCL ") + text);
  }
  if (names.empty()) {
    for (const auto& [text, version] : facts.version_facts) names.push_back("library " + text);
  }
  return names.empty() ? "unknown version" : list_of(names, 3);
}

std::string size_text(const JobFacts& facts) {
  const CommFacts* world = facts.world();
  std::vector<std::string> names;
  for (const HostFacts& host : facts.hosts) names.push_back(host.name);
  if (world == nullptr) {
    std::size_t devices = 0;
    for (const BenchmarkTable& table : facts.tables)
      devices = std::max(devices, table.devices.size());
    if (devices > 0)
      return fmt::format("{} on {}", plural(devices, "rank", "ranks"),
                         plural(static_cast<std::size_t>(facts.nodes()), "host", "hosts"));
    return names.empty() ? "no communicator seen"
                         : fmt::format("no communicator seen; {}", list_of(names));
  }
  std::vector<std::string> hosts;
  for (const std::int32_t host : world->hosts) hosts.push_back(facts.host_name(host));
  std::sort(hosts.begin(), hosts.end());
  // An NVLink domain of several hosts is one node to NCCL.
  const auto nodes = static_cast<std::size_t>(world->nodes());
  const std::size_t machines = std::max(nodes, hosts.size());
  std::string text =
      fmt::format("{} on {}", plural(static_cast<std::size_t>(world->nranks), "rank", "ranks"),
                  plural(machines, "host", "hosts"));
  if (!hosts.empty()) text += fmt::format(" ({})", list_of(hosts));
  if (machines > nodes) text += fmt::format(", {} to NCCL", plural(nodes, "node", "nodes"));
  if (facts.comms.size() > 1) text += fmt::format(", {} communicators", facts.comms.size());
  return text;
}

std::vector<DeviceList> devices_of(const JobFacts& facts) {
  std::vector<DeviceList> lists;
  for (const HostFacts& host : facts.hosts) {
    for (const auto& [net, names] : host.devices) {
      if (names.empty()) continue;
      auto at = std::find_if(lists.begin(), lists.end(), [&](const DeviceList& one) {
        return one.net == net && one.names == names;
      });
      if (at == lists.end()) {
        lists.push_back({net, names});
        at = lists.end() - 1;
      }
      at->hosts.push_back(host.name);
    }
  }
  for (DeviceList& list : lists) std::sort(list.hosts.begin(), list.hosts.end());
  return lists;
}

std::string near_size_text(std::uint64_t bytes) {
  double size = static_cast<double>(bytes);
  constexpr std::string_view kUnits = " KMGT";
  std::size_t unit = 0;
  // 1023.9996 of a unit is one of the next.
  for (constexpr double kStep = 1024, kNear = 0.999;
       size >= kStep * kNear && unit + 1 < kUnits.size(); ++unit) {
    size /= kStep;
  }
  return fmt::format("{:.4g}{}", size, unit == 0 ? "" : std::string(1, kUnits[unit]));
}

std::string bus_text(std::int64_t bus_id) {
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", bus_id >> 20, (bus_id >> 12) & 0xff,
                     (bus_id >> 4) & 0xff, bus_id & 0xf);
}

}  // namespace ringside::audit
