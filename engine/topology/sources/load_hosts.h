#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "engine/topology/host.h"

namespace ringside {

/// The hosts that `--on`, `--nodes` and `--nvl-domain` name.
///
/// on          one source, or several of them with a comma between: `A.xml:4,dgx-h100:2` are four
///             hosts of A and two of the preset, in this order. A source is a preset's name, or a part of
///             it between hyphens that no other preset has (gb200: gb200-nvl72), a file
///             (NCCL's topology XML, hwloc's XML, a host YAML: distinguished by their content),
///             `synthetic:` and hwloc's synthetic description (alone), or `local`, this machine
/// nodes       that many of a single source without a count; else 1, or the sum of the counts
/// nvl_domain  so many consecutive hosts share one NVLink domain
///
/// A preset that is an NVLink domain (gb200-nvl72: 18 hosts) counts in domains, unless nvl_domain
/// says otherwise.
/// errors  NotFound: neither a preset nor a file, the nearest of both is named. InvalidArgument: a
///         count below 1 or beyond kMaxHosts, counts and nodes that disagree, presets of different
///         domains. Corrupt, System, Unsupported: as the source's reader says
Result<JobHosts> load_hosts(const std::string& on, int nodes, std::optional<int> nvl_domain);

inline constexpr int kMaxHosts = 65536;  ///< a job has no more ranks

/// Names of the built-in hosts, in alphabetical order.
std::span<const std::string_view> host_preset_names();

}  // namespace ringside
