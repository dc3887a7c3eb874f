#include "engine/debuglog/topology_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/append.h"

namespace ringside {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

/// Returns the smallest rank of the system's GPUs. They are in the order of their bus ids, not of ranks.
int smallest_rank(const System& system) {
  const auto smallest = std::ranges::min_element(system.gpus, {}, &GpuInfo::rank);
  return smallest == system.gpus.end() ? 0 : smallest->rank;
}

/// Links of a GPU's silicon are printed as links of its first GPU.
NodeRef shown_node(const System& system, NodeRef ref) {
  if (ref.kind != NodeKind::Dev) return ref;
  for (int gpu = 0; gpu < system.count(NodeKind::Gpu); ++gpu) {
    if (system.gpus[at(gpu)].device == ref.index) return {NodeKind::Gpu, gpu};
  }
  return ref;
}

std::string_view kind_name(NodeKind kind) {
  constexpr std::array<std::string_view, kNodeKinds> kNames{"GPU", "PCI", "NVS", "CPU",
                                                            "NIC", "NET", "GPU"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string node_text(NcclVersion version, const System& system, NodeRef ref) {
  const SystemNode& node = system.node(ref);
  const bool is_bus_id = ref.kind == NodeKind::Gpu || ref.kind == NodeKind::Pci ||
                         ref.kind == NodeKind::Nic || ref.kind == NodeKind::Dev;
  const std::string id = is_bus_id ? fmt::format("{:x}", node.id) : fmt::format("{}", node.id);
  if (version.is_from(23)) return fmt::format("{}/{:x}-{}", kind_name(ref.kind), node.host, id);
  if (!is_bus_id) return fmt::format("{}/{}", kind_name(ref.kind), id);
  return fmt::format("{}/{:X}", kind_name(ref.kind), node.id);
}

/// Prints a node and the nodes below it.
class TreePrinter {
 public:
  TreePrinter(NcclVersion version, const System& system, int first_rank)
      : version_(version),
        system_(system),
        first_rank_(first_rank),
        own_first_rank_(smallest_rank(system)) {}

  void print(NodeRef ref, NodeRef above, std::size_t indent, const std::string& start) {
    lines_.push_back(start + details(ref));
    for (const LinkId id : links_of(ref)) {
      const Link& link = system_.link(id);
      const NodeRef to = shown_node(system_, link.to);
      if (link.kind == LinkKind::Loc || to == ref) continue;
      const bool is_down = link.kind == LinkKind::Pci || link.kind == LinkKind::Net;
      if (is_down && (to == above || to.kind == NodeKind::Cpu)) continue;
      const std::string arm = std::string(indent, ' ') +
                              fmt::format("+ {}[{:2.1f}] - ", to_string(link.kind), link.bandwidth);
      if (is_down) {
        print(to, ref, arm.size(), arm);
      } else {
        lines_.push_back(arm + node_text(version_, system_, to));
      }
    }
  }

  std::vector<std::string> take() { return std::move(lines_); }

 private:
  /// Returns a GPU's own links, which are those of its silicon.
  [[nodiscard]] std::vector<LinkId> links_of(NodeRef ref) const {
    std::vector<LinkId> links = system_.node(ref).links;
    if (ref.kind != NodeKind::Gpu) return links;
    const NodeRef silicon = system_.silicon_of(ref.index);
    if (silicon == ref || shown_node(system_, silicon) != ref) return links;
    const std::vector<LinkId>& more = system_.node(silicon).links;
    links.insert(links.end(), more.begin(), more.end());
    return links;
  }

  [[nodiscard]] std::string details(NodeRef ref) const {
    const std::string text = node_text(version_, system_, ref);
    if (ref.kind == NodeKind::Cpu) {
      const CpuInfo& cpu = system_.cpus[at(ref.index)];
      return fmt::format("{} ({}/{}/{})", text, static_cast<int>(cpu.arch),
                         static_cast<int>(cpu.vendor), cpu.model);
    }
    if (ref.kind == NodeKind::Gpu) {
      const int rank = system_.gpus[at(ref.index)].rank - own_first_rank_ + first_rank_;
      return fmt::format("{} ({})", text, rank);
    }
    if (ref.kind == NodeKind::Net) {
      const NetInfo& net = system_.nets[at(ref.index)];
      return fmt::format("{} ({}/{:x}/{}/{:f})", text, net.coll ? 1 : 0, net.guid, net.port,
                         net.bandwidth);
    }
    return text;
  }

  NcclVersion version_;
  const System& system_;
  int first_rank_;
  int own_first_rank_;  ///< of `system`
  std::vector<std::string> lines_;
};

/// The path from a GPU to its own silicon counts as no hop.
int count_hops(const System& system, const Path& path) {
  return static_cast<int>(std::ranges::count_if(
      path.links, [&system](LinkId id) { return system.link(id).kind != LinkKind::Loc; }));
}

std::string paths_text(NcclVersion version, const System& system, NodeRef from) {
  std::string text = node_text(version, system, from) + " :";
  for (const NodeKind kind : {NodeKind::Gpu, NodeKind::Nvs, NodeKind::Cpu, NodeKind::Net}) {
    for (int i = 0; i < system.count(kind); ++i) {
      const Path& path = system.path(from, {kind, i});
      const bool is_self = from == NodeRef{kind, i};
      append(text, "{} ({}/{:.1f}/{}) ", node_text(version, system, {kind, i}),
             is_self ? 0 : count_hops(system, path), is_self ? 5000.0F : path.bandwidth,
             path_name(version, is_self ? PathType::Loc : path.type));
    }
  }
  return text;
}

/// Returns the path type that a version without the given type uses instead.
PathType known_type(NcclVersion version, PathType type) {
  if (type == PathType::P2c && version.is_before(27)) type = PathType::Phb;
  if (type == PathType::C2c && version.is_before(26)) type = PathType::Phb;
  if (type == PathType::Pxn && version.is_before(12)) type = PathType::Phb;
  if (type == PathType::Nvb && version.is_before(8)) type = PathType::Nvl;
  return type;
}

}  // namespace

int path_number(NcclVersion version, PathType type) {
  // Old numbers are smaller by one for each type that was inserted before them since.
  const PathType known = known_type(version, type);
  int number = static_cast<int>(known);
  if (version.is_before(27) && known > PathType::P2c) --number;
  if (version.is_before(26) && known > PathType::C2c) --number;
  if (version.is_before(12) && known > PathType::Pxn) --number;
  if (version.is_before(8) && known > PathType::Nvb) --number;
  return number;
}

std::string_view path_name(NcclVersion version, PathType type) {
  return to_string(known_type(version, type));
}

std::vector<std::string> system_text(NcclVersion version, const System& system, int first_rank) {
  std::vector<std::string> lines;
  const bool says_bandwidth = version.is_from(14);
  lines.push_back(fmt::format(
      "=== System : {} {:2.1f} {} {:2.1f} ===", says_bandwidth ? "maxBw" : "maxWidth",
      system.max_bandwidth, says_bandwidth ? "totalBw" : "totalWidth", system.total_bandwidth));
  for (int cpu = 0; cpu < system.count(NodeKind::Cpu); ++cpu) {
    TreePrinter printer{version, system, first_rank};
    printer.print({NodeKind::Cpu, cpu}, {NodeKind::Cpu, cpu}, 0, "");
    for (std::string& line : printer.take()) lines.push_back(std::move(line));
  }
  lines.push_back(std::string(42, '='));
  for (int gpu = 0; gpu < system.count(NodeKind::Gpu); ++gpu) {
    lines.push_back(paths_text(version, system, {NodeKind::Gpu, gpu}));
  }
  return lines;
}

std::vector<std::string> graph_text(NcclVersion version, const System& system, const Graph& graph,
                                    int first_rank) {
  std::vector<std::string> lines;
  lines.push_back(fmt::format(
      "Pattern {}, crossNic {}, nChannels {}, {} {:f}/{:f}, type {}/{}, sameChannels {}",
      static_cast<int>(graph.pattern), graph.cross_nic, graph.nchannels,
      version.is_before(14) ? "speed" : "bw", graph.bw_intra, graph.bw_inter,
      path_name(version, graph.type_intra), path_name(version, graph.type_inter),
      graph.same_channels ? 1 : 0));
  const bool has_ids = version.is_from(23);
  const int own_first_rank = smallest_rank(system);
  const auto gpu_text = [&](int gpu) {
    if (has_ids) return node_text(version, system, {NodeKind::Gpu, gpu});
    return fmt::format("GPU/{}", system.gpus[at(gpu)].rank - own_first_rank + first_rank);
  };
  for (std::size_t channel = 0; channel < graph.intra.size(); ++channel) {
    std::string line = fmt::format("{:2} :", channel);
    const bool has_nets = channel < graph.inter.size();
    if (has_nets)
      line += ' ' + node_text(version, system, {NodeKind::Net, graph.inter[channel][0]});
    for (const int gpu : graph.intra[channel]) line += ' ' + gpu_text(gpu);
    if (has_nets)
      line += ' ' + node_text(version, system, {NodeKind::Net, graph.inter[channel][1]});
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string gdr_pair_text(NcclVersion version, const GdrPair& pair) {
  const int distance = path_number(version, pair.distance);
  const int level = path_number(version, PathType::Pxb);
  const std::string gpu =
      version.is_from(24) ? fmt::format("{}", pair.rank) : fmt::format("{:x}", pair.bus_id);
  const std::string hca = version.is_from(21) ? fmt::format("{:x}", pair.net_device)
                                              : fmt::format("{}", pair.net_device);
  std::string text = fmt::format("GPU Direct RDMA {} for GPU {} / HCA {} (distance {} {} {})",
                                 pair.is_enabled ? "Enabled" : "Disabled", gpu, hca, distance,
                                 distance <= level ? "<=" : ">", level);
  if (!pair.is_enabled) return text;
  text += fmt::format(", read {}", pair.is_read ? 1 : 0);
  return version.is_from(26) ? text + " mode Default" : text;
}

}  // namespace ringside
