#pragma once

#include <vector>

#include "diag/hangdetect/model/blocks.h"
#include "diag/hangdetect/model/job.h"
#include "diag/hangdetect/readers/trace_files.h"
#include "diag/hangdetect/verdict/verdict.h"

namespace ringside::hang {

/// The connections on which a call stands: chunks were sent that never arrived, at a receiver that waits for
/// nobody else. A receiver that also lacks a chunk which was never sent waits for that sender instead.
std::vector<ConnectionProgress> stalled_connections(
    const std::vector<ConnectionProgress>& connections);

/// Puts a stall of the network in the place of a verdict on ranks that did not come or stand still, where both ends
/// of a connection tell that what was sent has not arrived at a receiver that waits for it.
void blame_connections(const std::vector<ConnectionProgress>& connections, Verdict& verdict);

/// Where all have come to a call that does not end, and nothing was lost between them: blames those who stand in it, wait for
/// nobody, and are waited for. What they compute does not end, or the GPU that is to move their data.
void blame_who_waits_for_nobody(const std::vector<ConnectionProgress>& connections,
                                const Standing& standing, Verdict& verdict);

/// Adds to an explanation what the recorder's trace shows: of a stall, which connections and channels it is
/// on; of anything else, who waits for whose chunk.
void name_connections(const std::vector<ConnectionProgress>& connections, const Job& job,
                      Explanation& explanation);

}  // namespace ringside::hang
