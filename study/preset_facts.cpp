#include "study/preset_facts.h"

#include <algorithm>
#include <cstdint>

#include "engine/topology/device_models.h"
#include "engine/topology/host_edit.h"
#include "engine/topology/paths/link_speeds.h"
#include "engine/topology/sources/load_hosts.h"

namespace ringside::study {
namespace {

/// Returns the model without its vendor and subsystem; 0: it has none.
std::uint16_t model_id(const HostPci& function) {
  return static_cast<std::uint16_t>(device_id(function) >> 32);
}

}  // namespace

Result<std::vector<PresetFacts>> preset_facts() {
  std::vector<PresetFacts> all;
  for (const std::string_view name : host_preset_names()) {
    RINGSIDE_TRY(JobHosts hosts, load_hosts(std::string(name), 1, std::nullopt));
    Host& host = hosts.runs.front().host;
    PresetFacts facts{.name = std::string(name), .hosts_per_domain = hosts.hosts_per_nvl_domain};
    const std::vector<HostGpuPlace> gpus = gpu_places_of(host);
    facts.gpus = static_cast<int>(gpus.size());
    if (!gpus.empty()) {
      const HostGpuPlace& first = gpus.front();
      facts.sm = first.gpu->sm;
      const std::uint16_t id = model_id(*first.function);
      if (const auto model = gpu_model(id)) facts.gpu = model->name;
      facts.gpu_memory_gb = gpu_memory_gb(id);
      for (const HostNvLink& link : first.gpu->nvlinks) facts.nvlinks += link.count;
    }
    for (const HostNetPlace& place : nets_of(host)) {
      ++facts.nics;
      facts.nic_mbits_per_second =
          std::max(facts.nic_mbits_per_second, place.net->mbits_per_second);
    }
    all.push_back(std::move(facts));
  }
  return all;
}

}  // namespace ringside::study
