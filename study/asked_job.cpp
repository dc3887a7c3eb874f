#include "study/asked_job.h"

#include <utility>

#include "engine/topology/merge_nets.h"
#include "engine/tuning/parameters.h"
#include "study/job_settings.h"

namespace ringside::study {
namespace {

Result<AskedJob> load_job_under(const JobOptions& options, const Environment& environment,
                                std::string_view version) {
  RINGSIDE_TRY(const TopologyParameters topology, parse_topology_parameters(environment, version));
  RINGSIDE_TRY(const ChannelParameters channels, parse_channel_parameters(environment, version));
  RINGSIDE_TRY(FoundHosts found,
               find_hosts(options, [&](Host& host) { merge_nets(host, topology); }));
  RINGSIDE_TRY(Job job, make_job(found.hosts, topology, channels));
  if (found.fabric)
    found.fabric->first_hosts = first_hosts(job, {found.hosts, found.fabric->nodes});
  return AskedJob{topology, std::move(found.hosts), std::move(job), std::move(found.fabric)};
}

Result<TunedJob> load_tuned_job_under(const JobOptions& options, const Environment& environment,
                                      std::string_view version) {
  RINGSIDE_TRY(const TuningParameters tuning, parse_tuning_parameters(environment));
  RINGSIDE_TRY(AskedJob asked, load_job_under(options, environment, version));
  RINGSIDE_TRY(Tuner tuner, Tuner::make(asked.job.connection.shape, tuning, version));
  return TunedJob{std::move(asked), std::move(tuner)};
}

}  // namespace

Result<Environment> environment_of(const JobOptions& options) {
  RINGSIDE_TRY(const JobSettings settings, parse_job_settings(options.set));
  return environment_with(settings.variables);
}

JobFabric AskedJob::job_fabric() const {
  if (!fabric) return {};
  return {.fabric = fabric->fabric.get(), .first_hosts = fabric->first_hosts};
}

Result<AskedJob> load_job(const JobOptions& options, std::string_view version) {
  RINGSIDE_TRY(const Environment environment, environment_of(options));
  return load_job_under(options, environment, version);
}

Result<TunedJob> load_tuned_job(const JobOptions& options, std::string_view version) {
  RINGSIDE_TRY(const Environment environment, environment_of(options));
  return load_tuned_job_under(options, environment, version);
}

Result<TunedJob> load_tuned_preset(const std::string& on, int nodes) {
  const Environment nothing = [](const char*) -> std::optional<std::string> { return {}; };
  return load_tuned_job_under({.on = on, .nodes = nodes}, nothing, kDefaultRelease);
}

}  // namespace ringside::study
