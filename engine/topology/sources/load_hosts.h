#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "engine/topology/host.h"

namespace ringside {

/// Loads the hosts that `--on`, `--nodes` and `--nvl-domain` name.
///
/// on          one source, or several separated by commas: `A.xml:4,dgx-h100:2` is four hosts of A and then two of the
///             preset. A source is a preset's name, or a part of it between hyphens that no other preset has (gb200:
///             gb200-nvl72), a file (NCCL's topology XML, hwloc's XML, a host YAML: distinguished by their content),
///             `synthetic:` with hwloc's synthetic description (alone), or `local`, this machine
/// nodes       number of hosts of a single source without a count; nullopt: 1, or the sum of the counts
/// nvl_domain  number of consecutive hosts that form one NVLink domain
///
/// A preset that is an NVLink domain (gb200-nvl72: 18 hosts) counts in domains, unless nvl_domain is given.
/// errors  NotFound: neither a preset nor a file; the error names the closest of both.  InvalidArgument: a count below
///         1 or beyond kMaxHosts, counts and nodes that disagree, presets of different domains.  Corrupt, System,
///         Unsupported: errors of the source's reader
Result<JobHosts> load_hosts(const std::string& on, std::optional<int> nodes,
                            std::optional<int> nvl_domain);

/// Hosts of one job: more than clusters have; bounds time and memory if a number is mistyped.
inline constexpr int kMaxHosts = 65536;

/// Names of the built-in hosts, in alphabetical order.
std::span<const std::string_view> host_preset_names();

}  // namespace ringside
