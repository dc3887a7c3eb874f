#pragma once

#include <cstdint>
#include <simgrid/s4u.hpp>
#include <span>
#include <unordered_map>
#include <vector>

#include "sim/network.h"

namespace ringside {

/// The part of a network that a simulation uses, as a SimGrid platform: a host for each sending or
/// receiving rank, and a route for each pair of hosts that exchange messages. Its links have no
/// latency: the primitives add that of a step.
///
/// Links that carry the same routes are merged to one with the lowest of their rates: SimGrid's
/// work grows with the links of a route, and its result stays the same.
///
/// Ordering   add hosts and routes, then call finish(), then run the engine
/// Ownership  SimGrid's engine owns hosts and links, and lives at least as long
class SimgridPlatform {
 public:
  /// shape  SimGrid's engine exists and has no platform yet
  SimgridPlatform();

  simgrid::s4u::Host* add_host();

  /// Adds a route. A later route between the same hosts replaces an earlier one.
  /// links  link ids of the network that finish() receives
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
