#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ringside/units.h"
#include "sim/fabric/link_rules.h"

namespace ringside {

struct Platform;

/// The structure of the switches between hosts.
enum class FabricKind : std::uint8_t { Switch, LeafSpine, FatTree, DragonflyPlus, Torus, Platform };

/// The leaves that the NICs of a host connect to.
enum class Rails : std::uint8_t {
  None,       ///< all NICs of a host to one leaf
  Optimised,  ///< NIC k of neighbouring hosts to one leaf, which they share
  Only        ///< as Optimised, and no switch joins different rails
};

/// How switches choose among equal paths.
enum class Routing : std::uint8_t { Static, Adaptive };

/// All three return the name as written in files: "leaf_spine", "optimised", "adaptive".
const char* to_string(FabricKind kind);
const char* to_string(Rails rails);
const char* to_string(Routing routing);

/// The settings of a fabric in a cluster file.
struct FabricSettings {
  FabricKind kind = FabricKind::Switch;
  Rails rails = Rails::None;
  Routing routing = Routing::Static;
  std::uint64_t seed = 1;  ///< for static routing

  int hosts_per_leaf = 1;
  int hosts_per_pod = 1;        ///< fat tree: hosts of a pod; dragonfly+: hosts of a group
  double oversubscription = 1;  ///< of a leaf: rate of its NICs divided by the rate of its uplinks
  double spine_oversubscription = 1;
  int spines = 0;              ///< per pod, or in all; 0: as many as a leaf has uplinks
  int global_links = 0;        ///< per dragonfly+ spine; 0: as many as it has links down
  std::vector<int> dims = {};  ///< of a torus

  /// Rate of a NIC's cable; none: the NIC's own rate.
  std::optional<BytesPerSecond> nic_rate = {};
  /// Rate between switches; none: the fastest NIC's rate.
  std::optional<BytesPerSecond> rate = {};
  std::optional<BytesPerSecond> core_rate = {};  ///< rate between pods; none: `rate`
  Seconds hop_latency{};                         ///< of one switch
  Seconds core_latency{};                        ///< of one cable between pods

  std::string file = {};                               ///< file of a platform
  std::shared_ptr<const Platform> platform = nullptr;  ///< content of `file`; null: not read yet

  std::vector<LinkRule> rules = {};  ///< degraded links, and links that other jobs load

  std::string where = {};  ///< file:line, "cluster.yaml:4"; for messages
};

}  // namespace ringside
