#pragma once

#include <optional>
#include <string>
#include <string_view>

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
  LogRelease release = {};  ///< NCCL release in the logs
  /// The NICs are known: the user or a log lists them. Also true if none are used: all hosts are one NVLink domain, or
  /// there is one host. Otherwise they are the preset's, and the real hosts may have fewer or slower NICs.
  bool has_known_nics = true;
};

/// Keeps the first `count` NICs of each host and sets their rate.
/// mbits  rate in Mbit/s; 0: keep the rate
void keep_nics(JobHosts& hosts, std::size_t count, int mbits);

/// Returns the preset of hosts with GPUs of that product name; empty: unknown. PCIe cards have no NVLink, or have bridges
/// that no name shows: their hosts are unknown.
std::string_view preset_of_gpu(std::string_view gpu);

/// Returns the hardware of a job: from `cluster` (in the form of --on) if given, else from a topology dump in the logs,
/// else the preset that matches the GPU names, the GPUs per host and NVLink SHARP.
/// errors  NotFound: no source shows the hardware; also the errors of load_hosts()
Result<ExpectedJob> expected_job(const JobFacts& facts, const std::string& cluster);

/// Returns the host that a topology dump describes: CPUs, PCI switches, GPUs, NICs, NVLinks. Attributes that a dump never
/// has (device ids, link widths) are chosen so that the NCCL release that wrote it computes the same bandwidths.
/// rules   topology rules of that release
/// errors  Corrupt: the dump has no GPU, or not all its lines are in the logs. Also the errors of parse_nccl_xml()
Result<Host> host_of_dump(const TopologyDump& dump, const TopologyRules& rules);

}  // namespace ringside::audit
