#pragma once

#include <limits>
#include <string>
#include <vector>

#include "base/ids.h"
#include "engine/collectives/peers.h"
#include "engine/tuning/model.h"
#include "ringside/units.h"

namespace ringside {

/// One direction of a link, as far as the simulator looks at it.
struct SimLink {
  BytesPerSecond rate;
  std::string name;  ///< for people: "node 0: GPU 3 -> NVSwitch"
  /// Of a NIC's wire and of a fabric's links: a name that is the same in every job on these hosts, whichever of their GPUs
  /// take part; else empty.
  std::string wire = {};
};

/// What a message crosses.
struct SimRoute {
  std::vector<int> links = {};          ///< ids, each once; empty: there is no way
  StepLink slowest = StepLink::NvLink;  ///< which latency of a step it has; a group's has its own
  Seconds
      beyond{};  ///< of the way, over what a step has: switches and cables that only some messages cross
};

/// The links between ranks. They are computed one by one on demand, so that a large job costs no more than the
/// messages that it sends.
///
/// Threads  const methods may be called from any thread
class SimNetwork {
 public:
  virtual ~SimNetwork() = default;

  [[nodiscard]] virtual int nranks() const = 0;

  /// shape  two different ranks
  [[nodiscard]] virtual SimRoute route(Rank from, Rank to, int channel) const = 0;

  /// A group's message is one flow at one rate: over the way in of every sender and the way out of every
  /// receiver.
  [[nodiscard]] virtual SimRoute group_route(const SwitchGroup& group, int channel) const = 0;

  /// shape  an id out of a route
  [[nodiscard]] virtual SimLink link(int id) const = 0;

  /// The link's rate alone: of large jobs each is asked for.
  [[nodiscard]] virtual BytesPerSecond rate(int id) const { return link(id).rate; }

  /// From this id on links are those of a fabric between hosts.
  [[nodiscard]] virtual int first_fabric_link() const { return std::numeric_limits<int>::max(); }
  [[nodiscard]] bool has_fabric() const {
    return first_fabric_link() != std::numeric_limits<int>::max();
  }
};

}  // namespace ringside
