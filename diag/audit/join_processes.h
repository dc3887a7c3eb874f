#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "diag/audit/facts.h"
#include "diag/audit/shard.h"

namespace ringside::audit {

/// Of each shard, the process that each of its speakers is.
using ProcessTable = std::vector<std::vector<std::uint32_t>>;

/// Fills JobFacts::processes and hosts.
///
/// A torn line may show the stump of a host's name. A speaker with few lines whose process id and thread are
/// those of another one is that other one.
ProcessTable join_processes(const std::vector<std::unique_ptr<Shard>>& shards, JobFacts& facts);

}  // namespace ringside::audit
