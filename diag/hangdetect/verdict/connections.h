#pragma once

#include <span>
#include <vector>

#include "diag/hangdetect/readers/trace_files.h"
#include "diag/hangdetect/verdict/verdict.h"

namespace ringside::hang {

/// Returns the connections on which a call is stuck: chunks were sent but not received, or the sender cannot send though
/// all were received; and the receiver waits for no other rank.
std::vector<ConnectionProgress> stalled_connections(
    std::span<const ConnectionProgress> connections);

/// Adds to the best hypothesis which rank waits for which chunk. Does nothing if the hypothesis is a network failure.
void add_lacking_chunks(std::span<const ConnectionProgress> connections, Explanation& best);

}  // namespace ringside::hang
