#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "diag/audit/facts.h"
#include "diag/audit/log_release.h"
#include "engine/topology/host.h"
#include "engine/topology/rules.h"

namespace ringside::audit {

/// The hardware that a job ran on, as far as it can be told.
struct ExpectedJob {
  JobHosts hosts;
  std::string source;       ///< "the topology that node-a dumped", "hosts like dgx-a100 (assumed)"
  LogRelease release = {};  ///< that wrote the logs
  /// The NICs are those of the job: named, dumped or listed by a log, or nothing leaves the host. Otherwise they are the
  /// preset's, and hosts with fewer or slower ones exist.
  bool has_known_nics = true;
};

/// Leaves each host its first NICs, that many, and gives them a rate.
/// mbits  0: their own
void keep_nics(JobHosts& hosts, std::size_t count, int mbits);

/// From `cluster` (as --on takes it) where it is given, else from a topology dump in the logs, else the
/// preset that the GPUs' names, their number on a host and NVLink SHARP point to.
/// errors  as load_hosts(). NotFound: nothing tells the hardware
Result<ExpectedJob> expected_job(const JobFacts& facts, const std::string& cluster);

/// The host that a topology dump describes: CPUs, PCI switches, GPUs, NICs, NVLinks. What the dump leaves out
/// (device ids, link widths) is made so that the same bandwidths come out again of the release that dumped it.
/// rules   that release's
/// errors  NotFound: no dump in the logs (NCCL_DEBUG_SUBSYS=GRAPH writes one). Corrupt: it has no GPU, or lines of it
///         are lost. As parse_nccl_xml()
Result<Host> host_of_dump(const TopologyDump& dump, const TopologyRules& rules);

}  // namespace ringside::audit
