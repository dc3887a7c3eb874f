#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace ringside::study {

/// A summary of a preset's host.
struct PresetFacts {
  std::string name = {};
  int gpus = 0;
  std::string gpu = {};   ///< model; empty: unknown
  int sm = 0;             ///< compute capability, 10 x major + minor
  int gpu_memory_gb = 0;  ///< 0: unknown
  int nvlinks = 0;        ///< per GPU
  int nics = 0;
  int nic_mbits_per_second = 0;  ///< of the fastest NIC
  int hosts_per_domain = 1;      ///< hosts per NVLink domain, which `--nodes` counts as one node
};

/// Returns all presets, in alphabetical order.
/// errors  as load_hosts()
Result<std::vector<PresetFacts>> preset_facts();

}  // namespace ringside::study
