#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/env.h"
#include "base/result.h"
#include "engine/channels/job.h"

namespace CLI {
class App;
}

namespace ringside::cli {

/// Which job a verb asks about: the hosts, and the variables that it would be started with.
struct JobOptions {
  std::string on;                 ///< preset, NCCL XML, hwloc XML, or a list of them; load_hosts()
  int nodes = 1;                  ///< hosts
  std::optional<int> nvl_domain;  ///< hosts that share one NVLink domain
  std::vector<std::string> set;   ///< NAME=VALUE, over the process's own variables
};

/// Adds --on, --nodes, --nvl-domain and --set. `options` outlives the parsing.
void add_job_options(CLI::App& app, JobOptions& options);

/// The process's variables with `settings` (NAME=VALUE) over them; an empty value unsets one.
/// errors  InvalidArgument: no `=`, or a name that decides nothing here; the nearest known is named
Result<Environment> environment_with(const std::vector<std::string>& settings);

/// environment_with(options.set)
Result<Environment> environment_of(const JobOptions& options);

/// The job on those hosts under those variables.
/// errors  as load_hosts(), parse_topology_parameters(), parse_channel_parameters(), make_job()
Result<Job> job_of(const JobOptions& options, const Environment& environment);

}  // namespace ringside::cli
