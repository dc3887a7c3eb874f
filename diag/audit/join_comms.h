#pragma once

#include <memory>
#include <vector>

#include "diag/audit/join_processes.h"

namespace ringside::audit {

/// Fills JobFacts::comms from the parts of all shards, and JobFacts::desyncs. JobFacts::nets and processes
/// are there.
///
/// nets  [shard][number of the shard] = number of JobFacts
void join_comms(std::vector<std::unique_ptr<Shard>>& shards, const ProcessTable& processes,
                const std::vector<std::vector<std::uint16_t>>& nets, JobFacts& facts);

}  // namespace ringside::audit
