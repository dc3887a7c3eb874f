#include "engine/topology/paths/build_system.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "engine/topology/bus_id.h"
#include "engine/topology/children.h"
#include "engine/topology/paths/link_speeds.h"

namespace ringside {
namespace {

class Builder {
 public:
  Builder(int first_rank, const TopologyRules& rules) : rules_(rules), next_rank_(first_rank) {
    if (!rules.gpu_has_device) system_.silicon = NodeKind::Gpu;
  }

  void add_host(const Host& host) {
    ranks_.clear();
    std::vector<const HostGpu*> gpus = gpus_of(host);
    std::stable_sort(gpus.begin(), gpus.end(),
                     [](const HostGpu* a, const HostGpu* b) { return *a->rank < *b->rank; });
    for (const HostGpu* gpu : gpus) ranks_[gpu] = next_rank_++;
    for (const HostCpu& cpu : host.cpus) add_cpu(cpu);
    ++host_;
  }

  /// Adds the links that may connect vertices anywhere in the hosts: one kind after the other, for all hosts.
  void add_cross_links(std::span<const Host> hosts) {
    for (const auto visit :
         {&Builder::add_nvlinks, &Builder::add_c2c, &Builder::add_peer_switches}) {
      for (host_ = 0; host_ < static_cast<int>(hosts.size()); ++host_) {
        for (const HostCpu& cpu : hosts[static_cast<std::size_t>(host_)].cpus) {
          for (const HostPci& function : cpu.pci) walk(function, visit);
        }
      }
    }
    flatten_switches(system_, std::move(device_ids_), rules_);
    connect_cpus();
    finish_links(system_, rules_);
  }

  System take() { return std::move(system_); }

 private:
  std::vector<SystemNode>& nodes(NodeKind kind) {
    return system_.nodes[static_cast<std::size_t>(kind)];
  }

  NodeRef add(NodeKind kind, std::int64_t id) {
    nodes(kind).push_back({.host = host_, .id = id});
    return {kind, system_.count(kind) - 1};
  }

  std::optional<NodeRef> find(NodeKind kind, std::int64_t id) {
    const std::vector<SystemNode>& all = nodes(kind);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].host == host_ && all[i].id == id) return NodeRef{kind, static_cast<int>(i)};
    }
    return std::nullopt;
  }

  void connect_both(NodeRef a, NodeRef b, LinkKind kind, float bandwidth) {
    connect(system_, a, b, kind, bandwidth);
    connect(system_, b, a, kind, bandwidth);
  }

  void add_cpu(const HostCpu& cpu) {
    const NodeRef node = add(NodeKind::Cpu, cpu.numa);
    system_.cpus.push_back(cpu_info(cpu, rules_));
    in_order(
        cpu, [&](const HostPci& function) { add_pci(function, node, node); },
        [&](const HostNic& nic) { add_bare_nic(nic, node); });
  }

  /// Network devices without a PCI function share one vertex per host.
  void add_bare_nic(const HostNic& nic, NodeRef cpu) {
    auto shared = find(NodeKind::Nic, 0);
    if (!shared) {
      shared = add(NodeKind::Nic, 0);
      connect_both(cpu, *shared, LinkKind::Pci, kLocalBandwidth);
    }
    add_nets(nic, *shared);
  }

  void add_pci(const HostPci& function, NodeRef parent, NodeRef cpu) {
    const BusId id = bus_id_or_none(function.bus_id);
    std::optional<NodeRef> added;
    if (function.gpu) {
      added = add_gpu(function, *function.gpu, id, cpu);
    } else if (function.nic) {
      // The ports of a card are functions of one PCI device.
      const BusId card = id & ~BusId{0xF};
      auto node = find(NodeKind::Nic, card);
      if (!node) added = node = add(NodeKind::Nic, card);
      add_nets(*function.nic, *node, is_connectx8(function));
    } else {
      added = add(NodeKind::Pci, id);
      device_ids_.push_back(device_id(function));
      for (const HostPci& child : function.children) add_pci(child, *added, cpu);
    }
    if (added) connect_both(*added, parent, LinkKind::Pci, pci_bandwidth(function));
  }

  NodeRef add_gpu(const HostPci& function, const HostGpu& gpu, BusId id, NodeRef cpu) {
    const NodeRef node = add(NodeKind::Gpu, id);
    const NodeRef device = rules_.gpu_has_device ? add(NodeKind::Dev, id) : node;
    system_.devs.push_back({.sm = gpu.sm, .bus_id = function.bus_id});
    cpu_of_dev_.push_back(cpu);
    system_.gpus.push_back({.rank = ranks_.at(&gpu),
                            .dev = gpu.dev,
                            .sm = gpu.sm,
                            .gdr = gpu.gdr,
                            .bus_id = function.bus_id,
                            .device = device.index,
                            .mlopart = gpu.mlopart});
    if (device != node) connect_both(node, device, LinkKind::Loc, kLocalBandwidth);
    if (rules_.gpu_links_to_itself) connect(system_, node, node, LinkKind::Loc, kLocalBandwidth);
    return device;
  }

  void add_nets(const HostNic& nic, NodeRef card, bool is_connectx8 = false) {
    for (const HostNet& net : nic.nets) {
      const NodeRef node = add(NodeKind::Net, net.dev);
      system_.nets.push_back({.dev = net.dev,
                              .guid = net.guid,
                              .port = net.port,
                              .bandwidth = net_bandwidth(net),
                              .latency_us = static_cast<float>(net.latency_us),
                              .gdr = net.gdr,
                              .coll = net.coll,
                              .rail = net.rail.value_or(-1),
                              .plane = net.plane.value_or(-1),
                              .is_connectx8 = is_connectx8,
                              .name = net.name,
                              .link = net.link});
      connect_both(card, node, LinkKind::Net, system_.nets.back().bandwidth);
    }
  }

  void walk(const HostPci& function, void (Builder::*visit)(const HostPci&)) {
    (this->*visit)(function);
    for (const HostPci& child : function.children) walk(child, visit);
  }

  void add_nvlinks(const HostPci& function) {
    if (!function.gpu) return;
    const auto device = find(system_.silicon, bus_id_or_none(function.bus_id));
    for (const HostNvLink& link : function.gpu->nvlinks) {
      const float bandwidth =
          static_cast<float>(link.count) * nvlink_bandwidth(function.gpu->sm, rules_.nvlink);
      if (is_gpu_class(link.target_class)) {
        // Each of the two GPUs lists its own direction. A peer that does not belong to the job is skipped.
        const auto peer = find(system_.silicon, bus_id_or_none(link.target));
        if (peer) connect(system_, *device, *peer, LinkKind::Nvl, bandwidth);
      } else if (link.target_class == kPowerCpuClass) {
        connect_both(*device, cpu_of_dev_[static_cast<std::size_t>(device->index)], LinkKind::Nvl,
                     bandwidth);
      } else {
        connect_both(*device, nvswitch(), LinkKind::Nvl, bandwidth);
      }
    }
  }

  /// Returns the vertex of the domain's NVSwitches, which are modelled as one.
  NodeRef nvswitch() {
    if (nodes(NodeKind::Nvs).empty()) nodes(NodeKind::Nvs).push_back({.host = 0, .id = 0});
    return {NodeKind::Nvs, 0};
  }

  void add_c2c(const HostPci& function) {
    if (!function.gpu || !function.gpu->c2c || rules_.c2c_link == C2cLink::Unknown) return;
    const auto device = find(system_.silicon, bus_id_or_none(function.bus_id));
    const HostC2c& c2c = *function.gpu->c2c;
    connect_both(*device, cpu_of_dev_[static_cast<std::size_t>(device->index)],
                 rules_.c2c_link == C2cLink::NvLink ? LinkKind::Nvl : LinkKind::C2c,
                 c2c_bandwidth(c2c));
  }

  void add_peer_switches(const HostPci& function) {
    if (function.peer_switches.empty()) return;
    const auto from = find(NodeKind::Pci, bus_id_or_none(function.bus_id));
    if (!from) return;
    for (const std::string& target : function.peer_switches) {
      const auto to = find(NodeKind::Pci, bus_id_or_none(target));
      if (to) connect(system_, *from, *to, LinkKind::Loc, kLocalBandwidth);
    }
  }

  void connect_cpus() {
    const int count = system_.count(NodeKind::Cpu);
    for (int a = 0; a < count; ++a) {
      for (int b = 0; b < count; ++b) {
        const NodeRef from{NodeKind::Cpu, a};
        const NodeRef to{NodeKind::Cpu, b};
        if (a == b || system_.node(from).host != system_.node(to).host) continue;
        connect(system_, from, to, LinkKind::Sys,
                socket_bandwidth(system_.cpus[static_cast<std::size_t>(a)], rules_));
      }
    }
  }

  System system_;
  const TopologyRules& rules_;
  int host_ = 0;
  int next_rank_;
  std::map<const HostGpu*, int> ranks_;    ///< ranks of the current host's GPUs
  std::vector<std::uint64_t> device_ids_;  ///< [PCI vertex]
  std::vector<NodeRef> cpu_of_dev_;
};

/// Checks that each CPU has the attributes that NCCL requires.
/// source  NCCL 2.31.2 graph/topo.cc: ncclTopoAddCpu() fails if an attribute is missing
Status check_families(std::span<const Host> hosts, const TopologyRules& rules) {
  if (!needs_amd_family(rules)) return {};
  for (const Host& host : hosts) {
    for (const HostCpu& cpu : host.cpus) {
      if (cpu.lacks_family_at.empty()) continue;
      return Error{
          ErrorCode::InvalidArgument,
          cpu.lacks_family_at +
              ": a <cpu> of AuthenticAMD without familyid, which NCCL refuses from 2.31 on",
          "add familyid (lscpu shows it as \"CPU family\": 23 Zen 1 and 2, 25 Zen 3 and 4, "
          "26 Zen 5), or decide as an earlier release: --nccl 2.30"};
    }
  }
  return {};
}

}  // namespace

Result<System> build_graph(std::span<const Host> hosts, int first_rank,
                           const TopologyRules& rules) {
  RINGSIDE_TRY(check_families(hosts, rules));
  Builder builder{first_rank, rules};
  for (const Host& host : hosts) builder.add_host(host);
  builder.add_cross_links(hosts);
  System system = builder.take();
  system.nhosts = static_cast<int>(hosts.size());
  for (const Link& link : system.links) {
    if (link.reverse >= 0 || link.kind != LinkKind::Nvl) continue;
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("GPU {} has an NVLink to GPU {}, which has none back",
                             system.devs[static_cast<std::size_t>(link.from.index)].bus_id,
                             system.devs[static_cast<std::size_t>(link.to.index)].bus_id),
                 "list the link on both of them"};
  }
  return system;
}

}  // namespace ringside
