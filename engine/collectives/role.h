#pragma once

#include "base/algorithms.h"
#include "engine/collectives/exchange.h"
#include "engine/collectives/heads.h"
#include "engine/collectives/pat.h"
#include "engine/collectives/ring.h"
#include "engine/collectives/tree.h"

namespace ringside {

/// The strands of a task: parts of a loop that may run concurrently. NCCL splits a block's threads among them. An
/// executor with one thread runs strand s lag[s] loops behind strand 0.
struct Strands {
  static constexpr int kMost = 4;
  int count = 1;
  /// Number of hops of a chunk between strand 0 and this strand. With this lag no rank waits for a chunk that is
  /// several hops away, and every connection holds at most two.
  int lag[kMost] = {};

  [[nodiscard]] RINGSIDE_HD constexpr int last_lag() const { return lag[count - 1]; }
};

/// One rank's role in a collective on one channel: all values on which its steps depend, except the rounds of an
/// exchange. It is plain data, equal on hosts and on GPUs.
struct Role {
  Collective collective = Collective::AllReduce;
  Algorithm algorithm = Algorithm::Ring;
  Ring ring = {};  ///< for algorithms other than ring: index = rank, size = number of ranks
  int root = 0;    ///< broadcast, reduce: the root's position on the ring

  // Only what the algorithm uses is set.
  Tree tree = {};
  Heads heads = {};
  Pat pat = {};
  Strands strands = {};
};

/// A task to run: a role with its rounds and its loops. ChannelTask is the one on hosts, DeviceTaskView the one on
/// GPUs.
template <typename T>
concept Task = requires(const T& task, std::int64_t loop) {
  { task.role() } -> std::same_as<const Role&>;
  { task.round_list() } -> std::same_as<RoundList>;
  { task.loops() } -> std::same_as<std::int64_t>;
  { task.turn_of(loop) } -> std::same_as<int>;
};

}  // namespace ringside
