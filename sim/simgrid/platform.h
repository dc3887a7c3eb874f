#pragma once

#include <cstdint>
#include <simgrid/s4u.hpp>
#include <span>
#include <unordered_map>
#include <vector>

#include "sim/network.h"

namespace ringside {

/// The part of a network that a simulation uses, as SimGrid's platform: a host wherever a rank sends
/// or receives, and a route for each pair of hosts that do. Links have no latency: that of a step is the
/// primitives' business.
///
/// Links that carry the same routes become one, as narrow as the narrowest of them: SimGrid's work grows
/// with the links of a route, and its answer stays the same.
///
/// Ordering   hosts and routes first, then finish(), then the engine may run
/// Ownership  SimGrid's engine owns hosts and links, and lives at least as long
class SimgridPlatform {
 public:
  /// shape  SimGrid's engine is there, and has no platform yet
  SimgridPlatform();

  simgrid::s4u::Host* add_host();

  /// links  ids of `network`; a later route between the same hosts replaces an earlier one
  void add_route(const simgrid::s4u::Host* from, const simgrid::s4u::Host* to,
                 std::vector<int> links);

  void finish(const SimNetwork& network);

 private:
  class Routes;

  Routes* zone_;  ///< SimGrid's engine owns it
  int hosts_ = 0;
  std::unordered_map<std::uint64_t, std::vector<int>> routes_;  ///< by pair of hosts
};

}  // namespace ringside
