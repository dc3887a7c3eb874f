#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/env.h"
#include "base/result.h"
#include "harness/logs/log_request.h"

namespace ringside::study {

using NameValue = std::pair<std::string, std::string>;

/// The settings of a job (NAME=VALUE), sorted by what they change.
struct JobSettings {
  std::vector<NameValue> hosts;    ///< is_host_key(); for apply_host_setting()
  std::vector<NameValue> cluster;  ///< is_cluster_key(); for load_cluster() and cluster_in_fabric()
  std::optional<std::string> fabric = {};  ///< word for cluster_in_fabric(): the last fabric=WORD
  std::vector<NameValue> variables;        ///< all others, in their order
};

/// errors  InvalidArgument: no name, or no `=`
Result<JobSettings> parse_job_settings(const std::vector<std::string>& settings);

/// Returns whether a setting (NAME=VALUE) is of the fabric or of the placement in it.
bool is_fabric_setting(std::string_view setting);

/// Returns the variables of this process, overridden by `variables`. An empty value unsets a variable.
/// errors  InvalidArgument: a variable that decides nothing here, unless is_idle_variable(); the nearest known ones
///         are named
Result<Environment> environment_with(const std::vector<NameValue>& variables);

/// Returns the variables that are set, for the lines of a log that name them.
std::vector<Setting> logged_settings(const std::vector<NameValue>& variables);

}  // namespace ringside::study
