#include "cli/job_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>

#include "base/suggest.h"
#include "engine/topology/load_hosts.h"
#include "engine/tuning/parameters.h"

namespace ringside::cli {

void add_job_options(CLI::App& app, JobOptions& options) {
  app.add_option("--on", options.on,
                 "host: a preset's name, an NCCL or hwloc XML, or several such as a.xml:4,b.xml:2")
      ->required();
  app.add_option("-N,--nodes", options.nodes, "how many of them")->capture_default_str();
  app.add_option("--nvl-domain", options.nvl_domain,
                 "so many consecutive hosts share one NVLink domain");
  app.add_option("--set", options.set, "NAME=VALUE: a variable of NCCL's, as often as needed")
      ->allow_extra_args(false);
}

Result<Environment> environment_with(const std::vector<std::string>& settings) {
  std::map<std::string, std::string> values;
  const std::vector<std::string_view> known = known_variables();
  for (const std::string& setting : settings) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos || equals == 0) {
      return Error{ErrorCode::InvalidArgument, fmt::format("--set '{}' is not NAME=VALUE", setting),
                   "such as --set NCCL_ALGO=Ring"};
    }
    const std::string name = setting.substr(0, equals);
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("variable '{}' decides nothing here", name),
                   suggestion(name, known)};
    }
    values[name] = setting.substr(equals + 1);
  }
  return Environment{[values](const char* name) -> std::optional<std::string> {
    const auto found = values.find(name);
    if (found == values.end()) return env_text(name);
    if (found->second.empty()) return std::nullopt;
    return found->second;
  }};
}

Result<Environment> environment_of(const JobOptions& options) {
  return environment_with(options.set);
}

Result<Job> job_of(const JobOptions& options, const Environment& environment) {
  RINGSIDE_TRY(const TopologyParameters topology, parse_topology_parameters(environment));
  RINGSIDE_TRY(const ChannelParameters channels, parse_channel_parameters(environment));
  RINGSIDE_TRY(const JobHosts hosts, load_hosts(options.on, options.nodes, options.nvl_domain));
  return make_job(hosts, topology, channels);
}

}  // namespace ringside::cli
