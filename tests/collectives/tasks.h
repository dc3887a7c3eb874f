#pragma once

#include "engine/collectives/run.h"

namespace ringside {

/// A task on a ring of n ranks in their natural order.
inline ChannelTask ring_task(Collective collective, int position, int n, std::int64_t count = 1,
                             int root = 0) {
  std::vector<Rank> order;
  for (int rank = 0; rank < n; ++rank) order.push_back(Rank{rank});
  return {.collective = collective,
          .algorithm = Algorithm::Ring,
          .ring = {position, n},
          .root = root,
          .map = ChunkMap({.collective = collective,
                           .order = order,
                           .count = count,
                           .part = {0, count},
                           .chunk = 1 << 19,
                           .grain = 4})};
}

}  // namespace ringside
