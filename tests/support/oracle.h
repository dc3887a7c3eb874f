#pragma once

#include <string>
#include <vector>

#include "base/json.h"

/// NCCL's own answers for many node types; the README next to them describes the format. A clone does not have these
/// data: all functions throw where shared_folder() does.
namespace ringside::oracle {

/// Returns the releases other than 2.30.7 that have answers, sorted: "2.18.5", ...
std::vector<std::string> golden_releases();

/// Returns "dgx-h100-2nodes", ..., sorted.
///
/// release  one of golden_releases(); empty: 2.30.7
std::vector<std::string> golden_names(const std::string& release = {});

/// Loads golden/<name>.json, or versions/<release>/<name>.json.
Json load_golden(const std::string& name, const std::string& release = {});

/// Returns the path of topologies/<xml>, which a "hosts" entry names.
std::string topology_path(const std::string& xml);

}  // namespace ringside::oracle
