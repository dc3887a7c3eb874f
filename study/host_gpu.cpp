#include "study/host_gpu.h"

#include <cstdint>

#include "engine/topology/device_models.h"
#include "engine/topology/host_edit.h"
#include "engine/topology/paths/link_speeds.h"
#include "study/asked_job.h"

namespace ringside::study {

Result<WorkloadKeys> gpu_keys_of_hosts(const std::string& on) {
  RINGSIDE_TRY(JobHosts hosts, load_job_hosts({.on = on}));
  const auto gpus = gpu_places_of(hosts.runs.front().host);
  if (gpus.empty()) return WorkloadKeys{};
  const auto id = static_cast<std::uint16_t>(device_id(*gpus.front().function) >> 32);
  const std::string_view name = training_gpu_name(id);
  if (name.empty()) return WorkloadKeys{};
  WorkloadKeys keys{{"gpu", std::string(name)}};
  if (const int memory = gpu_memory_gb(id); memory > 0) {
    keys["gpu_memory_gb"] = std::to_string(memory);
  }
  return keys;
}

ScenarioReading scenario_reading() { return {.keys_of_hosts = gpu_keys_of_hosts}; }

Result<int> gpus_per_domain(const std::string& on) {
  RINGSIDE_TRY(const JobHosts hosts, load_job_hosts({.on = on}));
  return static_cast<int>(gpus_of(hosts.runs.front().host).size()) * hosts.hosts_per_nvl_domain;
}

}  // namespace ringside::study
