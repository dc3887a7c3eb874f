#pragma once

#include "engine/collectives/primitives.h"

namespace ringside {

/// One-shot all-reduce: every rank sends all it has to every rank, itself among them, and reduces what
/// comes in the order of the ranks. Port r leads to rank r both ways, so all ranks reduce alike and hold the
/// same bits. For messages so short that a hop costs more than n of them.
/// rounds  1              traffic  the buffer to each other rank
/// shape   nranks at most kMaxPortsInSet
/// source  the idea: NCCL 2.30's symmetric all-reduce, an LL all-gather with the reduction at each reader
template <Primitives P>
RINGSIDE_HD void one_shot_send(P& primitives, int nranks) {
  primitives.send(0, ports_from(0, nranks));
}

/// The second strand: chunks are on their way while earlier ones are reduced.
template <Primitives P>
RINGSIDE_HD void one_shot_reduce(P& primitives, int nranks) {
  primitives.recv(0, ports_from(0, nranks));
}

}  // namespace ringside
