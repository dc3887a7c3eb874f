#pragma once

#include <cstdint>
#include <vector>

#include "engine/channels/graph.h"
#include "engine/channels/rules.h"
#include "engine/topology/paths/system.h"

namespace ringside {

/// The remaining bandwidth of each link while a search places channels on a system.
///
/// A reservation takes the speed from every link of a path, or from no link. On a path that leaves a GPU through an
/// Intel CPU, PCI links cost 6/5 of the speed. Entering a GPU below compute capability 80 costs an eighth in the
/// reverse direction, unless the path begins at a GPU. NVLink into a POWER CPU costs the full speed in both directions,
/// and into any CPU by SearchRules::nvlink_to_cpu_costs_both_ways.
///
/// source  NCCL 2.30.7 graph/search.cc: followPath
class LinkBudget {
 public:
  explicit LinkBudget(const System& system, const SearchRules& rules = {});

  /// Takes `speed` GB/s from each link of the path. If a link has less, takes nothing and returns false.
  bool reserve(const Path& path, NodeKind start, float speed);
  /// Returns the bandwidth of a reservation to the links.
  void release(const Path& path, NodeKind start, float speed);

  /// Returns the GB/s left between a GPU's silicon and its PCI parent, in the direction with less; -1: no such link.
  [[nodiscard]] float pci_left(int device) const;

  /// Returns the GB/s left of a NIC's network port. NICs of one port (guid, port) share it.
  [[nodiscard]] float net_left(int net) const { return nets_[static_cast<std::size_t>(net)]; }
  void charge_net(int net, float speed);

 private:
  /// The bandwidth that a stream takes from the reverse direction of a link.
  enum class Backward : std::uint8_t { Nothing, EighthUnlessFromGpu, All };
  struct LinkState {
    float left;  ///< bandwidth not yet assigned, GB/s
    LinkId reverse;
    bool is_pci;
    bool is_endless;  ///< the link can never be full: between a GPU and its silicon
    Backward backward;
  };
  static Backward backward_of(const System& system, const Link& link, const SearchRules& rules);
  int take(const Path& path, NodeKind start, float speed, int most);
  [[nodiscard]] float pci_speed(const Path& path, NodeKind start, float speed) const;

  const System& system_;
  std::vector<LinkState> links_;
  std::vector<float> nets_;
};

}  // namespace ringside
