#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "diag/audit/facts.h"
#include "diag/audit/log_release.h"
#include "engine/topology/host.h"
#include "engine/topology/rules.h"

namespace ringside::audit {

/// The hardware that a job ran on, as far as it is known.
struct ExpectedJob {
  JobHosts hosts;
  std::string source;       ///< "the topology that node-a dumped", "hosts like dgx-a100 (assumed)"
  LogRelease release = {};  ///< of the logs
  /// The NICs are those of the job: named by the user, dumped or listed by a log, or no data leaves the host.
  /// Otherwise they are the preset's, and hosts with fewer or slower NICs exist.
  bool has_known_nics = true;
};

/// Keeps the first `count` NICs of each host, and sets their rate.
/// mbits  0: keep their own rate
void keep_nics(JobHosts& hosts, std::size_t count, int mbits);

/// From `cluster` (as --on takes it) where it is given, otherwise from a topology dump in the logs, otherwise the
/// preset that matches the GPUs' names, their number on a host and NVLink SHARP.
/// errors  as load_hosts(). NotFound: no source shows the hardware
Result<ExpectedJob> expected_job(const JobFacts& facts, const std::string& cluster);

/// The host that a topology dump describes: CPUs, PCI switches, GPUs, NICs, NVLinks. Fields that the dump omits
/// (device ids, link widths) are chosen so that the release that dumped it computes the same bandwidths.
/// rules   that release's
/// errors  NotFound: no dump in the logs (NCCL_DEBUG_SUBSYS=GRAPH writes one). Corrupt: it has no GPU, or lines of it
///         are lost. As parse_nccl_xml()
Result<Host> host_of_dump(const TopologyDump& dump, const TopologyRules& rules);

}  // namespace ringside::audit
