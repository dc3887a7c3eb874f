#include "study/job_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/suggest.h"
#include "engine/tuning/parameters.h"
#include "sim/fabric/cluster_file.h"
#include "study/host_changes.h"
#include "study/idle_variables.h"

namespace ringside::study {
namespace {

constexpr std::string_view kFabric = "fabric";

/// Names the three nearest settings, and the page that lists all.
std::string nearest_settings(std::string_view name) {
  constexpr std::size_t kShown = 3;
  std::vector<std::string_view> known = known_variables();
  known.insert(known.end(), kHostKeys.begin(), kHostKeys.end());
  const std::string_view nearest = nearest_word(name, known);
  std::ranges::stable_sort(known, {}, [&](std::string_view one) {
    return one == nearest ? -1 : edit_distance(name, one);
  });
  known.resize(std::min(known.size(), kShown));
  return fmt::format("{}nearest: {}; all: docs/reference/environment.md",
                     nearest.empty() ? "" : fmt::format("did you mean '{}'? ", nearest),
                     fmt::join(known, ", "));
}

}  // namespace

Result<JobSettings> parse_job_settings(const std::vector<std::string>& settings) {
  JobSettings sorted;
  for (const std::string& setting : settings) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos || equals == 0) {
      return Error{ErrorCode::InvalidArgument, fmt::format("--set '{}' is not NAME=VALUE", setting),
                   "such as --set NCCL_ALGO=Ring or --set nics=4"};
    }
    NameValue one{setting.substr(0, equals), setting.substr(equals + 1)};
    if (one.first == kFabric) {
      sorted.fabric = std::move(one.second);
    } else if (is_cluster_key(one.first)) {
      sorted.cluster.push_back(std::move(one));
    } else if (is_host_key(one.first)) {
      sorted.hosts.push_back(std::move(one));
    } else {
      sorted.variables.push_back(std::move(one));
    }
  }
  return sorted;
}

bool is_fabric_setting(std::string_view setting) {
  const std::string_view name = setting.substr(0, setting.find('='));
  return name == kFabric || is_cluster_key(name);
}

Result<Environment> environment_with(const std::vector<NameValue>& variables) {
  const std::vector<std::string_view> known = known_variables();
  std::map<std::string, std::string> values;
  for (const auto& [name, value] : variables) {
    if (is_idle_variable(name)) continue;
    if (std::ranges::find(known, name) == known.end()) {
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("variable '{}' decides nothing here", name),
                   name == "NCCL_IB_DISABLE" ? "--net tcp simulates sockets in place of RDMA"
                                             : nearest_settings(name)};
    }
    values[name] = value;
  }
  return Environment{[values](const char* name) -> std::optional<std::string> {
    const auto found = values.find(name);
    if (found == values.end()) return env_text(name);
    if (found->second.empty()) return std::nullopt;
    return found->second;
  }};
}

std::vector<Setting> logged_settings(const std::vector<NameValue>& variables) {
  std::vector<Setting> logged;
  for (const auto& [name, value] : variables) {
    if (!value.empty()) logged.push_back({name, value});
  }
  return logged;
}

}  // namespace ringside::study
