#pragma once

#include "engine/collectives/chunk_map.h"
#include "engine/collectives/ring.h"

namespace ringside {

/// One rank's share of one collective on one channel. Together with a Primitives model, that is all
/// there is to run.
struct ChannelTask {
  Collective collective = Collective::AllReduce;
  Algorithm algorithm = Algorithm::Ring;
  Ring ring;
  int root = 0;  ///< broadcast, reduce: the root's position on the ring
  ChunkMap map;
};

/// Whether run_loop() below knows the pair.
constexpr bool has_algorithm(Collective collective, Algorithm algorithm) {
  return algorithm == Algorithm::Ring &&
         (collective == Collective::AllReduce || collective == Collective::AllGather ||
          collective == Collective::ReduceScatter || collective == Collective::Broadcast);
}

/// One loop of the task: the algorithm once, over task.map.chunks() chunks. It does not see which
/// loop it is, so all loops take the same steps.
template <Primitives P>
void run_loop(P& primitives, const ChannelTask& task) {
  RINGSIDE_ASSERT(has_algorithm(task.collective, task.algorithm), "{} by {}",
                  to_string(task.collective), to_string(task.algorithm));
  switch (task.collective) {
    case Collective::AllReduce:
      return ring_all_reduce(primitives, task.ring);
    case Collective::AllGather:
      return ring_all_gather(primitives, task.ring);
    case Collective::ReduceScatter:
      return ring_reduce_scatter(primitives, task.ring);
    case Collective::Broadcast:
      return ring_broadcast(primitives, task.ring, task.root);
    case Collective::Reduce:
      return;
  }
}

/// The whole task. The model is told of each loop before its steps, by begin_loop(loop).
template <Primitives P>
void run_channel(P& primitives, const ChannelTask& task) {
  for (std::int64_t loop = 0; loop < task.map.loops(); ++loop) {
    primitives.begin_loop(loop);
    run_loop(primitives, task);
  }
}

}  // namespace ringside
