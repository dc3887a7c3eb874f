#pragma once

#include <span>
#include <vector>

#include "diag/hangdetect/readers/trace_files.h"
#include "diag/hangdetect/verdict/verdict.h"

namespace ringside::hang {

/// The connections on which a call is stuck: chunks were sent that never arrived, at a receiver that waits for no
/// other rank. A receiver that also lacks a chunk which was never sent waits for that sender instead.
std::vector<ConnectionProgress> stalled_connections(
    std::span<const ConnectionProgress> connections);

/// Adds to a verdict which rank waits for which chunk, unless the network itself is the verdict.
void add_lacking_chunks(std::span<const ConnectionProgress> connections, Explanation& best);

}  // namespace ringside::hang
