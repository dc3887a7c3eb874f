#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ringside/units.h"
#include "sim/fabric/link_rules.h"
#include "sim/fabric/settings.h"

namespace ringside {

/// A NIC of one of the cluster's hosts, as a port of the fabric.
struct FabricPort {
  int host = 0;  ///< number of the host in the cluster
  int nic = 0;   ///< number of the NIC on its host, in device order
};

/// A number of hosts with equal NICs.
struct FabricHosts {
  int count = 1;
  std::vector<BytesPerSecond> nics;  ///< rate of each NIC's cable, by NIC
};

/// The route of a message between two NICs.
struct FabricRoute {
  std::vector<int> links = {};  ///< link ids, each once; empty: no route
  int switches = 0;             ///< number of switches on the route
  Seconds latency{};            ///< in addition to a step's own latency (see Fabric, "Latency")
};

/// One direction of a link of a fabric.
struct FabricLink {
  BytesPerSecond rate;  ///< remaining rate after the rules
  std::string name;     ///< "leaf 3 -> spine 2"
  int tier = 0;         ///< index into FabricShape::tiers
};

/// Cables between two kinds of devices. Each direction of a cable is one link.
struct FabricTier {
  std::string name;  ///< "leaf - spine"
  std::int64_t cables = 0;
  BytesPerSecond rate;  ///< one cable, one direction, before the rules
  /// Per switch: capacity from below divided by the capacity of this tier; 1 on the lowest tier.
  double oversubscription = 1;
};

/// Switches of one kind.
struct FabricLevel {
  std::string name;  ///< "leaf"
  std::int64_t switches = 0;
  std::string holds;  ///< content of one switch: "32 NICs down, 16 links up"
};

/// The structure of a fabric as built, without the effects of rules.
struct FabricShape {
  int hosts = 0;
  std::vector<FabricLevel> levels = {};  ///< lowest first
  std::vector<FabricTier> tiers = {};    ///< lowest first: begins with the NICs' cables
  /// Rate in one direction between the lower-numbered half of the hosts and the other half.
  BytesPerSecond bisection;
  /// One line for each part that a platform file lists: "zone pod0: star, 16 hosts".
  std::vector<std::string> parts = {};
};

/// The switches and cables between a cluster's NICs. Link ids and routes are computed on demand, so
/// memory and time grow with the links that are looked up, not with the size of the fabric.
///
/// Links     each cable has two links, one per direction; ids from nlinks() on are trunks (adaptive
///           routing only)
/// Static    each flow takes one route, chosen by a hash as in ECMP: some links carry several flows
///           while others idle. Routing skips links that are down
/// Adaptive  each switch spreads each flow over all its links towards the destination, packet by
///           packet. Their sum is one link, a trunk. This models packet spraying with balanced
///           queues: a flow is limited only by capacity that all flows of a switch share
/// Latency   a simulated step's own latency was measured across networks: it includes a route over
///           kSwitchesInStep switches. FabricRoute::latency holds the latency of further switches and
///           of long cables
/// Buffers   are not modelled: flows share links fairly, and no packet is lost
///
/// Threads  const methods may be called from any thread
class Fabric {
 public:
  static constexpr int kSwitchesInStep = 2;

  Fabric(FabricSettings settings, std::vector<FabricHosts> hosts);
  virtual ~Fabric() = default;
  Fabric(const Fabric&) = delete;
  Fabric& operator=(const Fabric&) = delete;

  /// Returns the route from one port to another.
  /// flow   a hash of the route's inputs (mixed_with()): equal hashes take equal routes
  /// shape  ports of existing hosts and NICs
  [[nodiscard]] FabricRoute route(FabricPort from, FabricPort to, std::uint64_t flow) const;

  /// shape  id of a route's link, or below nlinks()
  [[nodiscard]] FabricLink link(int id) const;

  /// Returns the number of links, without trunks.
  [[nodiscard]] int nlinks() const { return tier_starts().back(); }
  /// Returns the first link id of each tier, followed by nlinks().
  [[nodiscard]] virtual std::vector<int> tier_starts() const = 0;
  [[nodiscard]] virtual FabricShape shape() const = 0;

  /// One direction of a cable, with its two ends.
  struct Wire {
    FabricEnd from, to;
    int number = -1;      ///< index among parallel cables between the two ends; -1: the only one
    BytesPerSecond rate;  ///< before the rules
    int tier = 0;
    /// false: the id belongs to no cable, as the host has fewer NICs than others.
    bool is_there = true;
    std::string name = {};  ///< name in the file; empty: named by its two ends
  };
  /// shape  below nlinks()
  [[nodiscard]] virtual Wire wire(int id) const = 0;

  [[nodiscard]] const FabricSettings& settings() const { return settings_; }
  [[nodiscard]] int nhosts() const { return nhosts_; }
  [[nodiscard]] int nics_of(int host) const;

  /// errors  Corrupt: a rule matches no link; the message names the nearest word
  [[nodiscard]] Status check_rules() const;

 protected:
  /// Returns the links of a route, both NICs' cables included, and its number of switches.
  [[nodiscard]] virtual FabricRoute find_route(FabricPort from, FabricPort to,
                                               std::uint64_t flow) const = 0;
  /// The name of a trunk and its links in order. Pass trunk() an id from nlinks() on.
  struct Trunk {
    std::string name;
    int tier = 0;
    std::vector<int> links;
  };
  [[nodiscard]] virtual Trunk trunk(int id) const;

  [[nodiscard]] BytesPerSecond rate_of_nic(FabricPort port) const;
  [[nodiscard]] BytesPerSecond fastest_nic() const;
  [[nodiscard]] BytesPerSecond all_nics() const;  ///< sum of the rates of all NICs
  [[nodiscard]] int most_nics() const { return most_nics_; }
  [[nodiscard]] bool is_adaptive() const { return settings_.routing == Routing::Adaptive; }
  /// Returns true if a rule takes links down: routing must then check that links are up.
  [[nodiscard]] bool is_any_down() const { return is_any_down_; }
  [[nodiscard]] bool is_up(int id) const;
  [[nodiscard]] bool are_up(const std::vector<int>& ids) const;

 private:
  /// The result of matching a rule with the fabric's links.
  struct Match {
    bool is_there = false;
    bool has_words = false;  ///< a tier has the rule's words, but no cable has its numbers
    std::vector<std::string> tiers = {};
    std::set<std::string_view> words = {};
  };
  [[nodiscard]] Match match(const LinkRule& rule) const;
  [[nodiscard]] BytesPerSecond left_of(const Wire& wire) const;

  FabricSettings settings_;
  std::vector<FabricHosts> hosts_;
  std::vector<int> first_host_;  ///< by entry of hosts_
  int nhosts_ = 0;
  int most_nics_ = 0;
  bool is_any_down_ = false;
};

}  // namespace ringside
