#include "engine/topology/paths/paths.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/topology/paths/build_system.h"

namespace ringside {
namespace {

// Searches breadth first from each base, layer by layer. Paths are stored from every vertex towards the base, so
// relaxing the link a -> b gives b the reverse of that link, followed by a's path.

/// Returns the path type that results from adding each link to a path.
PathType hop_type(const Link& link) {
  const bool touches_cpu = link.from.kind == NodeKind::Cpu || link.to.kind == NodeKind::Cpu;
  if (link.kind == LinkKind::Net) return PathType::Loc;  // only the path to the NIC counts
  if (link.from.kind == NodeKind::Pci && link.to.kind == NodeKind::Pci) return PathType::Pxb;
  if (link.kind == LinkKind::Pci && touches_cpu) return PathType::Phb;
  return static_cast<PathType>(link.kind);
}

bool is_better(PathType type, float bandwidth, int hops, const Path& than) {
  if (type != than.type) return type < than.type;
  if (bandwidth != than.bandwidth) return bandwidth > than.bandwidth;
  return hops < than.hops();
}

class PathFinder {
 public:
  PathFinder(System& system, const TopologyParameters& parameters)
      : system_(system), parameters_(parameters) {}

  Status find_from(NodeRef base) {
    Path& own = path_of(system_, base, base);
    own = {.type = PathType::Loc, .bandwidth = kLocalBandwidth};
    std::vector<NodeRef> layer{base};
    std::vector<NodeRef> next;
    while (!layer.empty()) {
      next.clear();
      for (const NodeRef node : layer) {
        for (const LinkId id : system_.node(node).links) {
          const Link& link = system_.link(id);
          if (!may_pass(base, node, link)) continue;
          RINGSIDE_TRY(const bool is_improved, relax(base, node, link));
          if (is_improved && std::find(next.begin(), next.end(), link.to) == next.end()) {
            next.push_back(link.to);
          }
        }
      }
      std::swap(layer, next);
    }
    return {};
  }

 private:
  /// Traffic does not pass through the silicon of another GPU, except for one additional NVLink (NVB).
  [[nodiscard]] bool may_pass(NodeRef base, NodeRef node, const Link& link) const {
    if (node.kind != system_.silicon || node == base) return true;
    const int hops = system_.path(node, base).hops();
    const bool is_from_gpu = base.kind == NodeKind::Gpu && system_.silicon != NodeKind::Gpu;
    if (is_from_gpu && hops == 1) return true;  // its own silicon
    if (link.to.kind == NodeKind::Gpu && system_.silicon != NodeKind::Gpu) return true;
    return !parameters_.nvb_disable && link.kind == LinkKind::Nvl &&
           link.to.kind == system_.silicon && hops <= (is_from_gpu ? 2 : 1);
  }

  /// returns  whether the path to the far end of the link has improved
  Result<bool> relax(NodeRef base, NodeRef node, const Link& link) {
    const Path& near = system_.path(node, base);
    Path& far = path_of(system_, link.to, base);
    const float bandwidth = std::min(near.bandwidth, link.bandwidth);
    const int hops = near.hops() + 1;
    PathType hop = hop_type(link);
    const bool is_relayed = node.kind == system_.silicon && node != base &&
                            near.type == PathType::Nvl && hop == PathType::Nvl;
    if (is_relayed) hop = PathType::Nvb;
    const PathType type = std::max(near.type, hop);
    const bool is_taken =
        parameters_.rules.paths_grow_by_hops
            ? (far.bandwidth == 0 || far.hops() > near.hops()) && far.bandwidth < bandwidth
            : is_better(type, bandwidth, hops, far);
    if (!is_taken) return false;
    if (link.reverse < 0) {
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("a link of type {} has one direction only",
                               to_string(static_cast<PathType>(link.kind))),
                   "list the link at both of its ends"};
    }
    far.type = type;
    far.bandwidth = bandwidth;
    far.links.resize(1);
    far.links[0] = link.reverse;
    far.links.insert(far.links.end(), near.links.begin(), near.links.end());
    return true;
  }

  System& system_;
  const TopologyParameters& parameters_;
};

}  // namespace

Path& path_of(System& system, NodeRef from, NodeRef to) {
  return system.paths[static_cast<std::size_t>(from.kind)][static_cast<std::size_t>(to.kind)]
                     [static_cast<std::size_t>(from.index * system.count(to.kind) + to.index)];
}

Status find_paths(System& system, const TopologyParameters& parameters) {
  PathFinder finder{system, parameters};
  for (const NodeKind to :
       {NodeKind::Cpu, NodeKind::Dev, NodeKind::Gpu, NodeKind::Net, NodeKind::Nvs}) {
    for (std::size_t from = 0; from < kNodeKinds; ++from) {
      const bool is_near = from == static_cast<std::size_t>(to)
                               ? parameters.rules.missing_peers_are_near
                               : parameters.rules.missing_paths_are_near;
      system.paths[from][static_cast<std::size_t>(to)].assign(
          system.nodes[from].size() * static_cast<std::size_t>(system.count(to)),
          Path{.type = is_near ? PathType::Loc : PathType::Dis});
    }
    for (int i = 0; i < system.count(to); ++i) RINGSIDE_TRY(finder.find_from({to, i}));
  }
  return {};
}

}  // namespace ringside
