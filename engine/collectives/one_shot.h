#pragma once

#include "engine/collectives/primitives.h"

namespace ringside {

/// One-shot all-reduce: every rank sends its whole buffer to every rank, itself included, and reduces the received
/// buffers in rank order. Port r leads to rank r in both directions, so all ranks compute identical bits. It is meant
/// for messages so short that a hop costs more than n messages.
/// rounds  1              traffic  the buffer to each other rank
/// shape   nranks at most kMaxPortsInSet
/// source  the idea: NCCL 2.30's symmetric all-reduce, an LL all-gather with the reduction at each reader
template <Primitives P>
RINGSIDE_HD void one_shot_send(P& primitives, int nranks) {
  primitives.send(0, ports_from(0, nranks));
}

/// Second strand: reduces chunks while later ones are in flight.
template <Primitives P>
RINGSIDE_HD void one_shot_reduce(P& primitives, int nranks) {
  primitives.recv(0, ports_from(0, nranks));
}

}  // namespace ringside
