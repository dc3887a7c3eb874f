#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "sim/fabric/fabric.h"

namespace ringside {

/// One row of the table of fabric kinds.
struct FabricKindRow {
  FabricKind kind;
  std::string_view name;               ///< as written in files
  std::string_view what;               ///< "leaves, and spines that join them"
  std::vector<std::string_view> keys;  ///< keys that only this kind has
  /// Builds a fabric of this kind.
  /// errors  Corrupt: settings that the kind refuses
  Result<std::unique_ptr<const Fabric>> (*make)(FabricSettings, std::vector<FabricHosts>);
  bool is_elsewhere = false;  ///< described by a file of its own; the common keys do not apply
};
std::span<const FabricKindRow> fabric_kinds();

/// Returns the keys that every fabric has.
std::span<const std::string_view> common_fabric_keys();

inline constexpr int kMostFabricHosts = 65536;

/// Builds the fabric that the settings describe.
/// errors  Corrupt: no hosts, or more than kMostFabricHosts; settings that the kind refuses; a rule
///         that matches no link
Result<std::unique_ptr<const Fabric>> make_fabric(FabricSettings settings,
                                                  std::vector<FabricHosts> hosts);

}  // namespace ringside
