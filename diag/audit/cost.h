#pragma once

#include <map>
#include <optional>
#include <string>

#include "diag/audit/audit.h"
#include "engine/topology/host.h"

namespace ringside::audit {

/// The job with a fault, as the model takes it.
struct AsFound {
  JobHosts hosts;
  std::map<std::string, std::string> variables = {};  ///< NCCL variables by name
  std::string text = {};                              ///< "without GPUDirect RDMA"
};

/// Returns the job with the fault that a finding describes.
/// expected  the job without the fault
/// returns   nothing if the model has no parameter for the fault
std::optional<AsFound> as_found(const Finding& finding, const JobFacts& facts, JobHosts expected);

/// Sets BenchmarkLine::expected_gbs of all tables with known hosts. A host that measures much more than predicted
/// counts as unknown.
/// cluster  as for add_costs()
void predict_tables(JobFacts& facts, const std::string& cluster);

/// Sets Finding::cost of findings on transports, predicted by the engine. If `cluster` is given, also judges benchmark
/// tables, for which it may replace all findings, and reports a filter that leaves one of several NICs as a warning.
///
/// cluster  the hosts in the form of --on; empty: as the logs show them (expected_job())
/// returns  the assumed hosts; empty: no finding has a cost, and there is no table
/// errors   those of expected_job() and of the model. Findings whose hosts are unknown then name them as missing
///          (Finding::unseen)
Result<std::string> add_costs(Audit& audit, const std::string& cluster);

}  // namespace ringside::audit
