#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "sim/fabric/fabric.h"

namespace ringside {

/// One row of the table of fabrics.
struct FabricKindRow {
  FabricKind kind;
  std::string_view name;  ///< in files
  std::string_view what;
  std::vector<std::string_view> keys;  ///< in addition to those that every fabric has
  Result<std::unique_ptr<const Fabric>> (*make)(FabricSettings, std::vector<FabricHosts>);
  bool is_elsewhere = false;  ///< a file of its own describes it: the common keys do not apply
};
std::span<const FabricKindRow> fabric_kinds();

/// Keys that every fabric has.
std::span<const std::string_view> common_fabric_keys();

inline constexpr int kMostFabricHosts = 65536;

/// errors  Corrupt: no hosts, or more than kMostFabricHosts; what the kind refuses; a rule that no link fits
Result<std::unique_ptr<const Fabric>> make_fabric(FabricSettings settings,
                                                  std::vector<FabricHosts> hosts);

}  // namespace ringside
