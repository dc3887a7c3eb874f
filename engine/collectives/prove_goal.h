#pragma once

#include <optional>
#include <span>
#include <vector>

#include "engine/collectives/contributions.h"
#include "engine/collectives/task.h"

/// Between the sources of the proof.
namespace ringside {

/// What a collective asks for.
class ProofGoal {
 public:
  /// shape  tasks of all ranks on one channel, by rank
  explicit ProofGoal(std::span<const ChannelTask> tasks);

  /// Whether this rank's input holds the chunk at all.
  [[nodiscard]] bool has_input(const ChannelTask& task, int rank, int chunk) const;

  /// What the output must hold in the end; nothing where the collective leaves it alone.
  [[nodiscard]] std::optional<Contributions> output(const ChannelTask& task, int rank,
                                                    int chunk) const;

  /// The chunks of a loop that may have an output on this rank.
  [[nodiscard]] std::vector<int> chunks(const ChannelTask& task, int rank) const;

 private:
  Collective collective_;
  int n_;
  int root_ = 0;
};

}  // namespace ringside
