#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/topology/host.h"
#include "ringside/units.h"

namespace ringside::study {

/// Changes of a job's hosts relative to their descriptions. change_host() makes them in this order: drop_rail, nics,
/// nic_rate, gpus, gdr.
struct HostChanges {
  std::optional<int> nics = {};       ///< number of NICs to keep, distributed evenly; at least 1
  std::optional<int> drop_rail = {};  ///< number of the NIC to remove from each host
  std::optional<BytesPerSecond> nic_rate = {};  ///< rate of each NIC, at least 1 Mbit/s
  std::optional<bool> gdr = {};                 ///< GPUs and NICs reach each other's memory, or not
  std::vector<int> gpus = {};  ///< GPUs that take part, by their ranks within the host; empty: all

  friend bool operator==(const HostChanges&, const HostChanges&) = default;
};

/// Names of the settings that change hosts.
inline constexpr std::array<std::string_view, 4> kHostKeys{"nics", "nic_rate", "drop_rail", "gdr"};

/// Returns whether a setting of this name changes hosts.
bool is_host_key(std::string_view key);

/// Parses the value of a setting that is a count.
/// errors  InvalidArgument: not a whole number of 0 to 1048576
Result<int> parse_count(const std::string& key, const std::string& value);

/// Sets one change from text, such as `nics` and `4`.
/// shape   is_host_key(key)
/// errors  InvalidArgument: not a count, no rate, or neither on nor off
Status apply_host_setting(HostChanges& changes, const std::string& key, const std::string& value);

/// Applies the changes to a host.
/// errors  InvalidArgument: the host lacks one of the GPUs, that many NICs, or the rail; the rail is its only NIC
Status change_host(Host& host, const HostChanges& changes);

}  // namespace ringside::study
