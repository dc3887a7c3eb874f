#pragma once

#include <string>

#include "base/result.h"
#include "harness/scenario/scenario.h"
#include "harness/scenario/workload.h"

namespace ringside::study {

/// Returns the keys `gpu` and `gpu_memory_gb` of a training workload on these hosts; empty: the rates of their GPU are
/// unknown.
/// on      as JobOptions::on
/// errors  as load_job_hosts()
Result<WorkloadKeys> gpu_keys_of_hosts(const std::string& on);

/// Returns settings for reading a scenario whose workload uses the GPU of its hosts if it names none.
ScenarioReading scenario_reading();

/// Returns the number of GPUs of one NVLink domain of these hosts.
/// errors  as load_job_hosts()
Result<int> gpus_per_domain(const std::string& on);

}  // namespace ringside::study
