#pragma once

#include <memory>
#include <vector>

#include "diag/audit/facts.h"
#include "diag/audit/shard.h"

namespace ringside::audit {

/// Puts the shards of a run together, in their order: processes that are one, parts of a communicator that
/// the end of a shard cut in two, communicators over all their ranks.
///
/// returns  the same facts however the logs were cut into shards
JobFacts join_shards(std::vector<std::unique_ptr<Shard>> shards);

}  // namespace ringside::audit
