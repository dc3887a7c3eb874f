#pragma once

#include "base/fd.h"
#include "base/ids.h"
#include "base/result.h"
#include "engine/runtime/bootstrap/messages.h"
#include "engine/transport/socket/acceptor.h"
#include "engine/transport/socket/patience.h"

namespace ringside {

/// One rank's two connections on a ring of ranks.
struct RingLinks {
  UniqueFd next;
  UniqueFd previous;
};

/// Connects to the next rank's acceptor at `next`, and accepts the previous rank's connection at `acceptor`. Other
/// peers are logged and dropped. Every rank calls it at the same time.
/// purpose  the same on all ranks: hellos for another ring are refused. A ring for the watch uses short segments, so
///          that it can report MTUs that differ
/// secret   the job's, which both ends prove to know
/// errors  Timeout, PeerGone, PermissionDenied, System: name the neighbour
Result<RingLinks> link_ring(RingHello::Purpose purpose, Rank me, int nranks, Acceptor& acceptor,
                            const Endpoint& next, const Secret& secret, const Patience& patience);

/// Return the neighbours of a rank on the ring 0, 1, .., nranks - 1.
constexpr Rank next_of(Rank rank, int nranks) { return Rank{(to_int(rank) + 1) % nranks}; }
constexpr Rank previous_of(Rank rank, int nranks) {
  return Rank{(to_int(rank) + nranks - 1) % nranks};
}

}  // namespace ringside
