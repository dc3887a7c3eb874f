#include <algorithm>

#include "engine/topology/paths/build_system.h"

namespace ringside {
namespace {

std::vector<LinkId>& links_of(System& system, NodeRef ref) {
  return system.nodes[static_cast<std::size_t>(ref.kind)][static_cast<std::size_t>(ref.index)]
      .links;
}

/// Returns the generation of a Broadcom PEX switch that appears as switches behind a switch; 0: another device.
/// level  1 for the switches behind
/// source NCCL 2.30.7 graph/topo.cc
int pex_generation(std::uint64_t device_id, std::uint64_t level, const TopologyRules& rules) {
  const std::uint64_t model = device_id & 0xFFFFFFFFFFFFF000;
  if (model == 0x1000C0101000A000) return 4;
  if (rules.joins_gen5_switches && model == (0x1000C03010000000 | level * 0x1000)) return 5;
  return 0;
}

/// Moves the link to the parent to the end of each list, in the PCI tree below a vertex.
void sort_below(System& system, NodeRef node, NodeRef up) {
  std::vector<LinkId>& links = links_of(system, node);
  if (node != up) {
    const auto way_up = std::find_if(links.begin(), links.end(),
                                     [&](LinkId id) { return system.link(id).to == up; });
    if (way_up != links.end()) std::rotate(way_up, way_up + 1, links.end());
  }
  for (const LinkId id : links) {
    const Link& link = system.link(id);
    if (link.kind == LinkKind::Pci && link.to != up) sort_below(system, link.to, node);
  }
}

}  // namespace

void connect(System& system, NodeRef from, NodeRef to, LinkKind kind, float bandwidth) {
  std::vector<LinkId>& links = links_of(system, from);
  auto at = std::find_if(links.begin(), links.end(), [&](LinkId id) {
    return system.link(id).to == to && system.link(id).kind == kind;
  });
  if (at == links.end()) {
    system.links.push_back({.kind = kind, .from = from, .to = to});
    links.push_back(static_cast<LinkId>(system.links.size() - 1));
    at = links.end() - 1;
  }
  Link& widened = system.links[static_cast<std::size_t>(*at)];
  widened.bandwidth += bandwidth;
  while (at != links.begin() && system.link(*(at - 1)).bandwidth < widened.bandwidth) {
    std::iter_swap(at - 1, at);
    --at;
  }
}

System without(const System& system, NodeKind kind, const std::vector<bool>& keep) {
  System rest = system;
  for (auto& from : rest.paths) from.fill({});
  std::vector<int> moved(keep.size(), -1);
  int next = 0;
  for (std::size_t i = 0; i < keep.size(); ++i) {
    if (keep[i]) moved[i] = next++;
  }
  const auto move = [&](NodeRef& ref) {
    if (ref.kind == kind) ref.index = moved[static_cast<std::size_t>(ref.index)];
    return ref.index >= 0;
  };

  // A link that loses an end is removed; the other links keep their order.
  std::vector<LinkId> link_moved(system.links.size(), -1);
  rest.links.clear();
  for (std::size_t i = 0; i < system.links.size(); ++i) {
    Link link = system.links[i];
    if (!move(link.from) || !move(link.to)) continue;
    link_moved[i] = static_cast<LinkId>(rest.links.size());
    rest.links.push_back(link);
  }
  for (Link& link : rest.links) {
    if (link.reverse >= 0) link.reverse = link_moved[static_cast<std::size_t>(link.reverse)];
  }

  const auto drop = [&](auto& values) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < keep.size(); ++i) {
      if (keep[i]) std::swap(values[kept++], values[i]);
    }
    values.resize(kept);
  };
  drop(rest.nodes[static_cast<std::size_t>(kind)]);
  if (kind == NodeKind::Net) drop(rest.nets);
  if (kind == NodeKind::Gpu) {
    drop(rest.gpus);
    if (rest.silicon == NodeKind::Gpu) {
      drop(rest.devs);
      for (std::size_t i = 0; i < rest.gpus.size(); ++i) rest.gpus[i].device = static_cast<int>(i);
    }
  }
  for (auto& nodes : rest.nodes) {
    for (SystemNode& node : nodes) {
      for (LinkId& id : node.links) id = link_moved[static_cast<std::size_t>(id)];
      std::erase(node.links, -1);
    }
  }
  return rest;
}

void flatten_switches(System& system, std::vector<std::uint64_t> device_ids,
                      const TopologyRules& rules) {
  const std::size_t count = device_ids.size();
  std::vector<bool> keep(count, true);
  for (std::size_t s = 0; s < count; ++s) {
    const int generation = keep[s] ? pex_generation(device_ids[s], 0, rules) : 0;
    if (generation == 0) continue;
    const NodeRef top{NodeKind::Pci, static_cast<int>(s)};
    std::vector<NodeRef> behind;
    std::vector<LinkId> rest;
    for (const LinkId id : links_of(system, top)) {
      const NodeRef to = system.link(id).to;
      const bool is_same_switch =
          to.kind == NodeKind::Pci &&
          pex_generation(device_ids[static_cast<std::size_t>(to.index)], 1, rules) == generation;
      if (is_same_switch) {
        behind.push_back(to);
      } else {
        rest.push_back(id);
      }
    }
    for (const NodeRef sub : behind) {
      for (const LinkId id : links_of(system, sub)) {
        Link& down = system.links[static_cast<std::size_t>(id)];
        if (down.to == top) continue;
        down.from = top;
        rest.push_back(id);
        for (const LinkId back : links_of(system, down.to)) {
          Link& up = system.links[static_cast<std::size_t>(back)];
          if (up.to != sub) continue;
          up.to = top;
          break;
        }
      }
      keep[static_cast<std::size_t>(sub.index)] = false;
    }
    links_of(system, top) = rest;
    device_ids[s] |= 0xFFFF;  // so that it matches no other switch
  }
  if (std::find(keep.begin(), keep.end(), false) == keep.end()) return;
  for (std::size_t s = 0; s < count; ++s) {
    if (keep[s]) continue;
    links_of(system, {NodeKind::Pci, static_cast<int>(s)}).clear();
  }
  system = without(system, NodeKind::Pci, keep);
}

void finish_links(System& system, const TopologyRules& rules) {
  for (int cpu = 0; cpu < system.count(NodeKind::Cpu); ++cpu) {
    const NodeRef root{NodeKind::Cpu, cpu};
    sort_below(system, root, root);
  }
  for (Link& link : system.links) {
    for (const LinkId id : system.node(link.to).links) {
      const Link& back = system.link(id);
      if (back.to != link.from) continue;
      if (back.kind != link.kind && !rules.reverse_is_of_any_kind) continue;
      link.reverse = id;
      break;
    }
  }
}

}  // namespace ringside
