#pragma once

#include <string>

#include "base/json.h"
#include "engine/channels/job.h"

namespace ringside::cli {

/// Returns the document of `ringside topo --json`, "ringside.topo/1". `system` and `graphs.search`
/// have one entry per class of equal nodes; numbers and codes are those of NCCL's structures (graph/topo.h).
///
/// unit   bandwidths GB/s, latencies us, chunks bytes; path types 0 LOC .. 11 DIS (`path_types`)
Json topo_document(const JobHosts& hosts, const Job& job);

/// "DGX-H100 x 2" for a job's hosts: their names, each with its count.
std::string hosts_text(const JobHosts& hosts);

/// Returns the shortest decimal that reads back as the same single-precision number.
double as_written(float value);

}  // namespace ringside::cli
