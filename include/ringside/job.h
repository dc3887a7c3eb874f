#pragma once

#include <ringside/export.h>

#include <optional>
#include <string>
#include <vector>

namespace RINGSIDE_API ringside {

/// Which job a question is about: its hosts, one rank for each GPU, and the variables that NCCL is started with.
struct JobRequest {
  std::string on;  ///< a preset of preset_names(), a host's XML or YAML file, or a cluster's file
  std::optional<int> nodes = {};  ///< hosts; empty: 1, or all that a cluster's file places
  std::vector<std::string> set =
      {};                 ///< NAME=VALUE, over the process's own variables: "NCCL_ALGO=Ring"
  std::string nccl = {};  ///< a release, such as "2.27"; empty: the newest that ringside knows
};

}  // namespace ringside
