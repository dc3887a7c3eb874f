#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "engine/channels/job.h"

namespace ringside::oracle {

/// How our answer compares with a golden file's: how many values were looked at, and in words where
/// they differ.
struct Comparison {
  int checked = 0;
  std::vector<std::string> differences = {};
};

Comparison compare_systems(const Json& golden, const Job& job);
Comparison compare_searches(const Json& golden, const Job& job);
Comparison compare_merged(const Json& golden, const Job& job);
Comparison compare_comm(const Json& golden, const Job& job);
/// Rings as cycles from rank 0; trees as each rank's parent and children; NVLS and CollNet likewise.
Comparison compare_channels(const Json& golden, const Job& job);

}  // namespace ringside::oracle
