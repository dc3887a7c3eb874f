#pragma once

#include <string>

#include "base/result.h"
#include "engine/topology/host.h"

namespace ringside {

/// A host from a host YAML (grammar: docs/reference/hosts.md), fully expanded.
struct DescribedHost {
  Host host;
  int hosts_per_domain = 1;  ///< number of such hosts that form one NVLink domain
};

/// Parses a host YAML. `where` starts each message.
/// errors  Corrupt: not YAML, another version, an unknown, missing or repeated key, a kind that is not declared, a
///         value out of range, a bus id or device number twice; as `where:line: what`, with the fix
Result<DescribedHost> parse_host_yaml(const std::string& text, const std::string& where);

}  // namespace ringside
