#pragma once

#include <map>
#include <optional>
#include <string>

#include "diag/audit/audit.h"
#include "engine/topology/host.h"

namespace ringside::audit {

/// The job as a finding has it.
struct AsFound {
  JobHosts hosts;
  std::map<std::string, std::string> variables = {};  ///< NCCL's
  std::string text = {};                              ///< "without GPUDirect RDMA"
};

/// expected  as it should be
/// returns   nothing where the finding changes nothing that a model of the job knows
std::optional<AsFound> as_found(const Finding& finding, const JobFacts& facts, JobHosts expected);

/// BenchmarkLine::expected_gbs of all tables, where the hosts are known; a machine that measures much more than the model
/// expects of it is not known.
/// cluster  as in add_costs()
void predict_tables(JobFacts& facts, const std::string& cluster);

/// What the engine says of the job: Finding::cost of findings on transports. With a cluster, tables are judged by it.
///
/// cluster  the hosts, as --on takes them; empty: what the logs tell (expected_job())
/// returns  what was taken for the hosts, or why nothing could be said
Result<std::string> add_costs(Audit& audit, const std::string& cluster);

}  // namespace ringside::audit
