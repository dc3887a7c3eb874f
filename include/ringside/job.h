#pragma once

#include <ringside/export.h>

#include <optional>
#include <string>
#include <vector>

namespace RINGSIDE_API ringside {

/// Selects the job of a request: its hosts, one rank per GPU, and NCCL's variables.
struct JobRequest {
  std::string on;  ///< a preset of preset_names(), a host's XML or YAML file, or a cluster's file
  std::optional<int> nodes = {};  ///< hosts; empty: 1, or all that a cluster's file places
  /// NAME=VALUE, over the process's own variables: "NCCL_ALGO=Ring"
  std::vector<std::string> set = {};
  std::string nccl = {};  ///< a release, such as "2.27"; empty: the newest known one
};

}  // namespace ringside
