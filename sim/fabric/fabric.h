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

/// A NIC of one of the cluster's hosts.
struct FabricPort {
  int host = 0;  ///< in the cluster's numbering
  int nic = 0;   ///< of the host's, in the order of their device numbers
};

/// So many hosts with alike NICs.
struct FabricHosts {
  int count = 1;
  std::vector<BytesPerSecond> nics;  ///< rates of their wires, by NIC
};

/// What a message crosses between two NICs.
struct FabricWay {
  std::vector<int> links = {};  ///< ids, each once; empty: there is no way
  int switches = 0;             ///< that it passes
  Seconds latency{};            ///< beyond what a simulated step has anyway (Fabric, "Latency")
};

struct FabricLink {
  BytesPerSecond rate;  ///< what of it is left
  std::string name;     ///< "leaf 3 -> spine 2"
  int tier = 0;         ///< index into FabricShape::tiers
};

/// Cables between two kinds of things; both directions of a cable are links.
struct FabricTier {
  std::string name;  ///< "leaf - spine"
  std::int64_t cables = 0;
  BytesPerSecond rate;  ///< of one, one direction, as built
  double oversubscription =
      1;  ///< capacity from below over this tier's, of one switch; 1: of the lowest tier
};

/// Switches of one kind.
struct FabricLevel {
  std::string name;  ///< "leaf"
  std::int64_t switches = 0;
  std::string holds;  ///< of one of them: "32 NICs down, 16 links up"
};

/// What a fabric looks like as built, whatever is degraded.
struct FabricShape {
  int hosts = 0;
  std::vector<FabricLevel> levels = {};  ///< lowest first
  std::vector<FabricTier> tiers = {};    ///< lowest first: the cables of the NICs
  /// What one half of the hosts can send to the other half at once, numbered halves; one direction.
  BytesPerSecond bisection;
  std::vector<std::string> parts =
      {};  ///< of what a file lists, a line each: "zone pod0: star, 16 hosts"
};

/// The switches and cables between a cluster's NICs. Links are numbered by arithmetic and ways found on demand: a
/// fabric costs as much as the links that are looked up, not as much as all its links.
///
/// Links     two for each cable, one for each direction; and where routing is adaptive trunks, behind them
/// Static    each flow takes one way by a hash, as ECMP does: some links carry several flows while others rest. Links
///           that are down are not chosen
/// Adaptive  each switch spreads each flow evenly over all links that lead on, packet by packet: their sum is one link,
///           a trunk. That is what spraying comes to where queues balance; a flow is then held up by nothing but
///           what all flows of a switch share
/// Latency   a simulated step's own latency was measured across networks: it holds a way over kSwitchesInStep
///           switches. FabricWay::latency is what each further one, and long cables, add
/// Buffers   are not described: flows share links fairly, and nothing is lost
///
/// Threads  const methods may be called from any thread
class Fabric {
 public:
  static constexpr int kSwitchesInStep = 2;

  Fabric(FabricSettings settings, std::vector<FabricHosts> hosts);
  virtual ~Fabric() = default;
  Fabric(const Fabric&) = delete;
  Fabric& operator=(const Fabric&) = delete;

  /// flow   a hash of the route's inputs (mixed_with()): equal numbers take equal routes
  /// shape  ports that are there
  [[nodiscard]] FabricWay way(FabricPort from, FabricPort to, std::uint64_t flow) const;

  /// shape  an id of a way, or below nlinks()
  [[nodiscard]] FabricLink link(int id) const;

  /// Without trunks.
  [[nodiscard]] int nlinks() const { return tier_starts().back(); }
  /// The first link of each tier, and one behind the last of all.
  [[nodiscard]] virtual std::vector<int> tier_starts() const = 0;
  [[nodiscard]] virtual FabricShape shape() const = 0;

  /// One direction of a cable, and its two ends.
  struct Wire {
    FabricEnd from, to;
    int number = -1;      ///< among alike cables between the two; -1: there is but one
    BytesPerSecond rate;  ///< as built
    int tier = 0;
    bool is_there = true;   ///< a number that no cable has: a host with fewer NICs than others
    std::string name = {};  ///< where the file gives it one; empty: its ends are
  };
  /// shape  below nlinks()
  [[nodiscard]] virtual Wire wire(int id) const = 0;

  [[nodiscard]] const FabricSettings& settings() const { return settings_; }
  [[nodiscard]] int nhosts() const { return nhosts_; }
  [[nodiscard]] int nics_of(int host) const;

  /// errors  Corrupt: a rule that no link fits; the nearest word is named
  [[nodiscard]] Status check_rules() const;

 protected:
  /// A way's links, the cables of both NICs among them, and the switches on it.
  [[nodiscard]] virtual FabricWay find_way(FabricPort from, FabricPort to,
                                           std::uint64_t flow) const = 0;
  /// What a trunk is called, and its links in order.
  /// shape  an id from nlinks() on
  struct Trunk {
    std::string name;
    int tier = 0;
    std::vector<int> links;
  };
  [[nodiscard]] virtual Trunk trunk(int id) const;

  [[nodiscard]] BytesPerSecond rate_of_nic(FabricPort port) const;
  [[nodiscard]] BytesPerSecond fastest_nic() const;
  [[nodiscard]] BytesPerSecond all_nics() const;  ///< sum of their rates
  [[nodiscard]] int most_nics() const { return most_nics_; }
  [[nodiscard]] bool is_adaptive() const { return settings_.routing == Routing::Adaptive; }
  /// Whether a rule takes links out: ways must then look for those that are left.
  [[nodiscard]] bool is_any_down() const { return is_any_down_; }
  [[nodiscard]] bool is_up(int id) const;
  [[nodiscard]] bool are_up(const std::vector<int>& ids) const;

 private:
  /// What a rule fits, or might have.
  struct Match {
    bool is_there = false;
    bool has_words = false;  ///< a tier has its words, and no cable its numbers
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
