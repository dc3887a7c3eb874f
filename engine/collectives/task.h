#pragma once

#include <array>
#include <vector>

#include "engine/collectives/chunk_map.h"
#include "engine/collectives/exchange.h"
#include "engine/collectives/heads.h"
#include "engine/collectives/pat.h"
#include "engine/collectives/ring.h"
#include "engine/collectives/tree.h"

namespace ringside {

/// How many parts of a loop may run beside each other: NCCL splits a block's threads among them, an
/// executor with one thread runs strand s on the loop that strand 0 was on lag[s] loops ago.
struct Strands {
  static constexpr int kMost = 4;
  int count = 1;
  /// As many hops as a chunk is on its way between strand 0 and this one: then no rank waits for a chunk
  /// that is still far, and every connection holds two at most.
  std::array<int, kMost> lag{};

  [[nodiscard]] constexpr int last_lag() const { return lag[static_cast<std::size_t>(count - 1)]; }
};

/// One rank's share of one collective on one channel. Together with a Primitives model, that is all
/// there is to run: see README.md, "Writing an executor".
struct ChannelTask {
  Collective collective = Collective::AllReduce;
  Algorithm algorithm = Algorithm::Ring;
  Ring ring;     ///< of other algorithms: the rank among all ranks
  int root = 0;  ///< broadcast, reduce: the root's position on the ring

  // Only what the algorithm uses is set.
  Tree tree = {};
  Heads heads = {};
  Pat pat = {};
  std::vector<Round> rounds = {};

  /// What each port leads to, by number. Some are unused (Peer::is_used).
  std::vector<Peer> recv_peers = {};
  std::vector<Peer> send_peers = {};
  Strands strands = {};

  ChunkMap map;
};

/// Whether the task needs no more than a ring's two ports and one strand.
inline bool is_ring_task(const ChannelTask& task) {
  return task.algorithm == Algorithm::Ring && task.rounds.empty();
}

}  // namespace ringside
