#pragma once

#include "base/algorithms.h"
#include "engine/collectives/exchange.h"
#include "engine/collectives/heads.h"
#include "engine/collectives/pat.h"
#include "engine/collectives/ring.h"
#include "engine/collectives/tree.h"

namespace ringside {

/// How many parts of a loop may run concurrently: NCCL splits a block's threads among them, an
/// executor with one thread runs strand s on the loop that strand 0 was on lag[s] loops ago.
struct Strands {
  static constexpr int kMost = 4;
  int count = 1;
  /// As many hops as a chunk is on its way between strand 0 and this one: then no rank waits for a chunk
  /// that is still far, and every connection holds two at most.
  int lag[kMost] = {};

  [[nodiscard]] RINGSIDE_HD constexpr int last_lag() const { return lag[count - 1]; }
};

/// The part of one rank in one collective on one channel: all that its steps depend on, but for the rounds of
/// an exchange. Plain data, the same on hosts and on GPUs.
struct Role {
  Collective collective = Collective::AllReduce;
  Algorithm algorithm = Algorithm::Ring;
  Ring ring = {};  ///< of other algorithms: the rank among all ranks
  int root = 0;    ///< broadcast, reduce: the root's position on the ring

  // Only what the algorithm uses is set.
  Tree tree = {};
  Heads heads = {};
  Pat pat = {};
  Strands strands = {};
};

/// What runs: a role with its rounds and its loops. ChannelTask is one on hosts, DeviceTaskView on GPUs.
template <typename T>
concept Task = requires(const T& task, std::int64_t loop) {
  { task.role() } -> std::same_as<const Role&>;
  { task.round_list() } -> std::same_as<RoundList>;
  { task.loops() } -> std::same_as<std::int64_t>;
  { task.turn_of(loop) } -> std::same_as<int>;
};

}  // namespace ringside
