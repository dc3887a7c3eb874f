#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "engine/channels/job.h"

/// Where our answer differs from a golden file's, in words; empty where it does not.
namespace ringside::oracle {

using Differences = std::vector<std::string>;

Differences compare_searches(const Json& golden, const Job& job);
Differences compare_merged(const Json& golden, const Job& job);
Differences compare_comm(const Json& golden, const Job& job);
/// Rings as cycles from rank 0; trees as each rank's parent and children; NVLS and CollNet likewise.
Differences compare_channels(const Json& golden, const Job& job);

}  // namespace ringside::oracle
