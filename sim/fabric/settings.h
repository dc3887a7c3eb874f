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

/// Which switches stand between hosts.
enum class FabricKind : std::uint8_t { Switch, LeafSpine, FatTree, DragonflyPlus, Torus, Platform };

/// What the NICs of a host are wired to.
enum class Rails : std::uint8_t {
  None,       ///< all to one leaf
  Optimised,  ///< each to a leaf of its own, which it shares with that NIC of neighbouring hosts
  Only        ///< the same, and no switch joins one rail with another
};

enum class Routing : std::uint8_t { Static, Adaptive };

/// As files have them: "leaf_spine", "optimised", "adaptive".
const char* to_string(FabricKind kind);
const char* to_string(Rails rails);
const char* to_string(Routing routing);

/// A fabric as a file describes it.
struct FabricSettings {
  FabricKind kind = FabricKind::Switch;
  Rails rails = Rails::None;
  Routing routing = Routing::Static;
  std::uint64_t seed = 1;  ///< of static routing

  int hosts_per_leaf = 1;
  int hosts_per_pod = 1;        ///< of a fat tree's pod, of a dragonfly's group
  double oversubscription = 1;  ///< of a leaf: the rate of its NICs divided by that of its links up
  double spine_oversubscription = 1;
  int spines = 0;              ///< of a pod, or of all; 0: as many as a leaf has links up
  int global_links = 0;        ///< of a dragonfly's spine; 0: as many as it has links down
  std::vector<int> dims = {};  ///< of a torus

  std::optional<BytesPerSecond> nic_rate = {};   ///< of a NIC's cable; none: the NIC's own
  std::optional<BytesPerSecond> rate = {};       ///< between switches; none: the fastest NIC's
  std::optional<BytesPerSecond> core_rate = {};  ///< between pods; none: as `rate`
  Seconds hop_latency{};                         ///< of a switch
  Seconds core_latency{};                        ///< of a cable between pods

  std::string file = {};                               ///< of a platform
  std::shared_ptr<const Platform> platform = nullptr;  ///< its content; null: not read yet

  std::vector<LinkRule> rules = {};  ///< degraded links, and the load of other jobs

  std::string where = {};  ///< of the file, "cluster.yaml:4"; for messages
};

}  // namespace ringside
