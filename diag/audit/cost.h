#pragma once

#include <map>
#include <optional>
#include <string>

#include "diag/audit/audit.h"
#include "engine/topology/host.h"

namespace ringside::audit {

/// The job in the state that a finding describes.
struct AsFound {
  JobHosts hosts;
  std::map<std::string, std::string> variables = {};  ///< NCCL's
  std::string text = {};                              ///< "without GPUDirect RDMA"
};

/// expected  the job without the fault
/// returns   nothing where the finding changes nothing that a model of the job knows
std::optional<AsFound> as_found(const Finding& finding, const JobFacts& facts, JobHosts expected);

/// Sets BenchmarkLine::expected_gbs of all tables, where the hosts are known; a machine that measures much more than
/// the prediction counts as unknown.
/// cluster  as in add_costs()
void predict_tables(JobFacts& facts, const std::string& cluster);

/// Predicts the job with the engine: sets Finding::cost of findings on transports. With a cluster, it also judges
/// tables.
///
/// cluster  the hosts, as --on takes them; empty: as the logs show them (expected_job())
/// returns  the hosts that were assumed, or why no prediction was possible
Result<std::string> add_costs(Audit& audit, const std::string& cluster);

}  // namespace ringside::audit
