#pragma once

#include <limits>
#include <string>
#include <vector>

#include "base/ids.h"
#include "engine/collectives/peers.h"
#include "engine/tuning/model.h"
#include "ringside/units.h"

namespace ringside {

/// One direction of a link, with the properties that the simulator uses.
struct SimLink {
  BytesPerSecond rate;
  std::string name;  ///< for people: "node 0: GPU 3 -> NVSwitch"
  /// For a NIC's cable or a link of a fabric: a name that is the same in every job on these hosts,
  /// whichever GPUs take part. Empty for other links.
  std::string wire = {};
};

/// The route of a message.
struct SimRoute {
  std::vector<int> links = {};  ///< link ids, each once; empty: no route
  /// Decides on the latency of a step; groups have a latency of their own.
  StepLink slowest = StepLink::NvLink;
  /// Latency of switches and cables in addition to the latency of a step.
  Seconds beyond{};
};

/// The links between the ranks of a job. Routes and links are computed on demand, so the cost grows
/// with the messages sent, not with the size of the job.
///
/// Threads  const methods may be called from any thread
class SimNetwork {
 public:
  virtual ~SimNetwork() = default;

  [[nodiscard]] virtual int nranks() const = 0;

  /// Returns the route between two ranks on a channel.  shape  two different ranks
  [[nodiscard]] virtual SimRoute route(Rank from, Rank to, int channel) const = 0;

  /// Returns the route of a group's message. The message is one flow at one rate: over the links
  /// from every sender and to every receiver.
  [[nodiscard]] virtual SimRoute group_route(const SwitchGroup& group, int channel) const = 0;

  /// Returns a link.  shape  an id out of a route
  [[nodiscard]] virtual SimLink link(int id) const = 0;

  /// Returns the rate of a link without its name: faster for large jobs.
  [[nodiscard]] virtual BytesPerSecond rate(int id) const { return link(id).rate; }

  /// Returns the first id of the fabric's links; all ids from it on are links between hosts.
  [[nodiscard]] virtual int first_fabric_link() const { return std::numeric_limits<int>::max(); }
  [[nodiscard]] bool has_fabric() const {
    return first_fabric_link() != std::numeric_limits<int>::max();
  }
};

}  // namespace ringside
