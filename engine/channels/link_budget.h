#pragma once

#include <cstdint>
#include <vector>

#include "engine/channels/graph.h"
#include "engine/channels/rules.h"
#include "engine/topology/paths/system.h"

namespace ringside {

/// What is left of each link while channels are laid over a system.
///
/// A reservation takes the speed from every link of a path, or from none. PCI links of a path that
/// leaves a GPU through an Intel CPU cost 6/5 of the speed; entering a GPU below compute capability 80
/// costs an eighth the other way; NVLink into a POWER CPU costs the same both ways.
///
/// source  NCCL 2.30.7 graph/search.cc: followPath
class LinkBudget {
 public:
  explicit LinkBudget(const System& system, const SearchRules& rules = {});

  /// Takes `speed` GB/s from each link of the path; false, and nothing taken, where one has less.
  bool reserve(const Path& path, NodeKind start, float speed);
  /// Gives it back.
  void release(const Path& path, NodeKind start, float speed);

  /// GB/s left between a GPU's silicon and its PCI parent, of the direction that has less; -1 without.
  [[nodiscard]] float pci_left(int device) const;

  /// GB/s left on the wire of a NIC. NICs of one port (guid, port) share it.
  [[nodiscard]] float net_left(int net) const { return nets_[static_cast<std::size_t>(net)]; }
  void charge_net(int net, float speed);

 private:
  /// What a stream over the link costs its other direction.
  enum class Backward : std::uint8_t { Nothing, EighthUnlessFromGpu, All };
  struct LinkState {
    float left;
    LinkId reverse;
    bool is_pci;
    bool is_endless;  ///< wider than all that can reach it: between a GPU and its silicon
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
