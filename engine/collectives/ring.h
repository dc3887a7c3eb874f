#pragma once

#include "engine/collectives/primitives.h"

/// The ring algorithms: each rank receives from the previous rank and sends to the next. n > 1 is the ring's size, x
/// this rank's position; chunk numbers are modulo n.
/// source  chunk order: NCCL 2.30's ring kernels
namespace ringside {

/// One rank's position on a channel's ring.
struct Ring {
  int index = 0;  ///< position, 0 .. size-1
  int size = 1;

  /// Returns the chunk (or position) before `chunk`, modulo the size.
  [[nodiscard]] RINGSIDE_HD constexpr int before(int chunk) const {
    return chunk == 0 ? size - 1 : chunk - 1;
  }
  /// Returns the next position, modulo the size.
  [[nodiscard]] RINGSIDE_HD constexpr int after(int position) const {
    return position + 1 == size ? 0 : position + 1;
  }
};

/// First part of all-reduce and reduce-scatter: sends a chunk, then n - 2 times adds this rank's share to a received
/// chunk and sends it on.
/// returns  the number of the chunk that arrives next: it contains all ranks' shares except this rank's
template <Primitives P>
RINGSIDE_HD int ring_reduce_along(P& primitives, Ring ring) {
  int chunk = ring.before(ring.index);
  primitives.send(chunk);
  for (int round = 2; round < ring.size; ++round) {
    chunk = ring.before(chunk);
    primitives.recv_reduce_send(chunk);
  }
  return ring.before(chunk);
}

/// Distributes results: each rank has sent `chunk`, and in each round sends on the chunk that it received before.
template <Primitives P>
RINGSIDE_HD void ring_copy_along(P& primitives, Ring ring, int chunk) {
  for (int round = 1; round < ring.size - 1; ++round) {
    chunk = ring.before(chunk);
    primitives.recv_copy_send(chunk);
  }
  primitives.recv(ring.before(chunk));
}

/// Ring all-reduce: each chunk travels the ring once to be reduced, then once more to be distributed.
/// rounds  2(n - 1)       traffic  2(n - 1) / n of the buffer on each link
template <Primitives P>
RINGSIDE_HD void ring_all_reduce(P& primitives, Ring ring) {
  const int chunk = ring_reduce_along(primitives, ring);
  primitives.recv_reduce_copy_send(chunk);
  ring_copy_along(primitives, ring, chunk);
}

/// Ring reduce-scatter: the first half of the all-reduce; this rank keeps chunk x.
/// rounds  n - 1          traffic  (n - 1) / n of the input on each link
template <Primitives P>
RINGSIDE_HD void ring_reduce_scatter(P& primitives, Ring ring) {
  primitives.recv_reduce_copy(ring_reduce_along(primitives, ring));
}

/// Ring all-gather: the second half of the all-reduce; this rank provides chunk x. The blocks of all_gather_v differ in
/// length; after a block's end its chunks are empty.
/// rounds  n - 1          traffic  (n - 1) / n of the output on each link
template <Primitives P>
RINGSIDE_HD void ring_all_gather(P& primitives, Ring ring) {
  primitives.copy_send(ring.index);
  ring_copy_along(primitives, ring, ring.index);
}

/// Ring broadcast: a chain that starts at the root and ends just before it.
/// rounds  n - 1          traffic  the whole buffer on each link but the one into the root
template <Primitives P>
RINGSIDE_HD void ring_broadcast(P& primitives, Ring ring, int root) {
  if (ring.index == root) {
    primitives.copy_send(0);
  } else if (ring.after(ring.index) == root) {
    primitives.recv(0);
  } else {
    primitives.recv_copy_send(0);
  }
}

/// Ring reduce: a chain that starts just after the root and ends at it.
/// rounds  n - 1          traffic  the whole buffer on each link but the one out of the root
template <Primitives P>
RINGSIDE_HD void ring_reduce(P& primitives, Ring ring, int root) {
  if (ring.index == root) {
    primitives.recv_reduce_copy(0);
  } else if (ring.before(ring.index) == root) {
    primitives.send(0);
  } else {
    primitives.recv_reduce_send(0);
  }
}

}  // namespace ringside
