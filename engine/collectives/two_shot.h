#pragma once

#include "engine/collectives/primitives.h"
#include "engine/collectives/ring.h"

namespace ringside {

/// Two-shot all-reduce: rank r owns chunk r. Each rank sends every other rank that rank's chunk, reduces its own chunk
/// from all ranks, and sends the sum to all. It takes two rounds for any n, and moves no more bytes than a ring; but
/// it connects every pair of ranks, so it suits ranks with equal links to each other.
/// rounds   2             traffic  2(n-1)/n of the buffer out of each rank
/// ports    r: rank r's share of a sum; n + r: a complete sum
/// shape    n at most kMaxPortsInSet
/// source   the idea: NCCL 2.30's symmetric all-reduce, which reduce-scatters by loads and gathers by stores
template <Primitives P>
RINGSIDE_HD void two_shot_scatter(P& primitives, const Ring& ranks) {
  // Each rank begins with the rank after itself, so that not all send to the same rank first.
  for (int hop = 1; hop < ranks.size; ++hop) {
    const int owner = (ranks.index + hop) % ranks.size;
    primitives.send(owner, port(owner));
  }
}

/// Returns all ports but the own rank's, from port `first` on.
RINGSIDE_HD constexpr Ports ports_of_others(const Ring& ranks, int first) {
  Ports ports = ports_from(first, ranks.size);
  ports.bits = static_cast<std::uint16_t>(ports.bits & ~(1U << static_cast<unsigned>(ranks.index)));
  return ports;
}

/// The second strand: the own chunk of all ranks.
template <Primitives P>
RINGSIDE_HD void two_shot_reduce(P& primitives, const Ring& ranks) {
  primitives.recv_reduce_copy_send(ranks.index, ports_of_others(ranks, 0),
                                   ports_of_others(ranks, ranks.size));
}

/// Third strand: receives what the other ranks have reduced.
template <Primitives P>
RINGSIDE_HD void two_shot_gather(P& primitives, const Ring& ranks) {
  for (int hop = 1; hop < ranks.size; ++hop) {
    const int owner = (ranks.index + hop) % ranks.size;
    primitives.recv(owner, port(ranks.size + owner));
  }
}

}  // namespace ringside
