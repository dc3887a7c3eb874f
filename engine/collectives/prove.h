#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"
#include "engine/collectives/record.h"

namespace ringside {

/// What a proof has seen on its way.
struct ProofSummary {
  std::int64_t steps = 0;  ///< over all ranks and loops
  std::vector<std::int64_t>
      chunks_sent;  ///< by ring position: chunks sent to the next one, per loop
};

/// Runs recorded programs against each other over sets of contributions instead of data: a chunk is
/// the set of ranks whose input is in it.
///
/// programs         one a ring position; position i sends to i + 1 and receives from i - 1
/// root             broadcast, reduce: the root's position
/// chunks_in_flight at most on one connection (8 slots / slots a chunk takes), >= 1
/// loops            how many loops to run back to back, so that loops may overlap; at most the
/// program's errors  Corrupt, naming position, step and chunk: a contribution counted twice or
/// missing at the
///         end, an input read that holds nothing or was overwritten (in place), an output never
///         written, a chunk other than the receiver expects, data left on a connection, a deadlock
Result<ProofSummary> prove_ring(Collective collective, std::span<const Program> programs, int root,
                                int chunks_in_flight, std::int64_t loops);

}  // namespace ringside
