#pragma once

#include <string>
#include <vector>

#include "base/json.h"

/// NCCL's own answers on many node types; the format is in the README beside them. They are data that a clone does not
/// have: all of this throws where shared_folder() does.
namespace ringside::oracle {

/// "dgx-h100-2nodes", ... sorted.
std::vector<std::string> golden_names();

/// golden/<name>.json.
Json load_golden(const std::string& name);

/// The path of topologies/<xml>, of a "hosts" entry.
std::string topology_path(const std::string& xml);

}  // namespace ringside::oracle
