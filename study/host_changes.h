#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "engine/topology/host.h"

namespace ringside::study {

/// What is to be different about a job's hosts than their descriptions say.
struct HostChanges {
  std::optional<int> nics = {};                 ///< keep so many, evenly out of all
  std::optional<int> drop_rail = {};            ///< the NIC of that number, on each host
  std::optional<BytesPerSecond> nic_rate = {};  ///< of each NIC
  std::optional<bool> gdr = {};                 ///< GPUs and NICs reach each other's memory, or not
  std::vector<int> gpus = {};  ///< that take part, by their ranks within the host; empty: all

  friend bool operator==(const HostChanges&, const HostChanges&) = default;
};

/// Whether a setting of this name changes hosts: nics, nic_rate, drop_rail, gdr.
bool is_host_key(std::string_view key);

/// The value of a setting that counts something.
/// errors  InvalidArgument: not a whole number of at least 0
Result<int> parse_count(const std::string& key, const std::string& value);

/// Sets one of them from text: `nics`, `4`.
/// shape   is_host_key(key)
/// errors  InvalidArgument: not a count, no rate, or neither on nor off
Status apply_host_setting(HostChanges& changes, const std::string& key, const std::string& value);

/// errors  InvalidArgument: a GPU that the host has not, more NICs than the host has, a rail that it has not, or its last one
Status change_host(Host& host, const HostChanges& changes);

}  // namespace ringside::study
