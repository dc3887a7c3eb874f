#include "study/asked_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/suggest.h"
#include "engine/topology/load_hosts.h"
#include "engine/tuning/parameters.h"

namespace ringside::study {
namespace {

/// A machine may well have no GPU; a job needs them.
Status check_gpus(const JobHosts& hosts) {
  for (const HostRun& run : hosts.runs) {
    if (!gpus_of(run.host).empty()) continue;
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("{} has no GPU that takes part: {} NUMA nodes, and nothing to connect",
                             run.host.name, run.host.cpus.size()),
                 fmt::format("look at a preset instead: {}", fmt::join(host_preset_names(), ", "))};
  }
  return {};
}

Result<AskedJob> load_job_under(const JobOptions& options, const Environment& environment) {
  RINGSIDE_TRY(const TopologyParameters topology, parse_topology_parameters(environment));
  RINGSIDE_TRY(const ChannelParameters channels, parse_channel_parameters(environment));
  RINGSIDE_TRY(JobHosts hosts, load_job_hosts(options));
  RINGSIDE_TRY(Job job, make_job(hosts, topology, channels));
  return AskedJob{topology, std::move(hosts), std::move(job)};
}

Result<TunedJob> load_tuned_job_under(const JobOptions& options, const Environment& environment,
                                      std::string_view version) {
  RINGSIDE_TRY(const TuningParameters tuning, parse_tuning_parameters(environment));
  RINGSIDE_TRY(AskedJob asked, load_job_under(options, environment));
  RINGSIDE_TRY(Tuner tuner, Tuner::make(asked.job.connection.shape, tuning, version));
  return TunedJob{std::move(asked), std::move(tuner)};
}

}  // namespace

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

Result<JobHosts> load_job_hosts(const JobOptions& options) {
  RINGSIDE_TRY(JobHosts hosts, load_hosts(options.on, options.nodes, options.nvl_domain));
  RINGSIDE_TRY(check_gpus(hosts));
  return hosts;
}

Result<AskedJob> load_job(const JobOptions& options) {
  RINGSIDE_TRY(const Environment environment, environment_of(options));
  return load_job_under(options, environment);
}

Result<TunedJob> load_tuned_job(const JobOptions& options, std::string_view version) {
  RINGSIDE_TRY(const Environment environment, environment_of(options));
  return load_tuned_job_under(options, environment, version);
}

Result<TunedJob> load_tuned_preset(const std::string& on, int nodes) {
  const Environment nothing = [](const char*) -> std::optional<std::string> { return {}; };
  return load_tuned_job_under({.on = on, .nodes = nodes}, nothing, kNewestTuning);
}

}  // namespace ringside::study
