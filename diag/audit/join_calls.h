#pragma once

#include <memory>
#include <vector>

#include "diag/audit/call_order.h"
#include "diag/audit/facts.h"
#include "diag/audit/shard.h"

namespace ringside::audit {

/// Compares the calls of the ranks, as long as two of them have one.
///
/// A line that is lost shifts what follows it, and must accuse nobody. Where the ranks' own counters move with
/// their calls alone, calls of one count are compared: a jump is a hole. Elsewhere (2.8, ranks without a proxy,
/// sends between the collectives) the k-th calls are, and a rank that goes on like the others from a later call
/// has a hole there, or skipped a call: the lines cannot tell.
///
/// returns  those that differ from most, at the first call where any does
/// source   docs/formats 3.1
std::vector<JobFacts::Desync> compare_calls(const std::vector<CallsOfRank>& calls,
                                            const std::vector<std::unique_ptr<Shard>>& shards,
                                            CallOrder& order);

}  // namespace ringside::audit
