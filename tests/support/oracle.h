#pragma once

#include <string>
#include <vector>

#include "base/json.h"

/// NCCL's own answers on many node types; the format is in the README next to them. They are data that a clone does not
/// have: all of this throws where shared_folder() does.
namespace ringside::oracle {

/// The releases besides 2.30.7 whose answers are there, sorted: "2.18.5", ...
std::vector<std::string> golden_releases();

/// "dgx-h100-2nodes", ... sorted.
/// release  one of golden_releases(); empty: 2.30.7
std::vector<std::string> golden_names(const std::string& release = {});

/// golden/<name>.json, or versions/<release>/<name>.json.
Json load_golden(const std::string& name, const std::string& release = {});

/// The path of topologies/<xml>, of a "hosts" entry.
std::string topology_path(const std::string& xml);

}  // namespace ringside::oracle
