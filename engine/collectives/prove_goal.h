#pragma once

#include <optional>
#include <span>
#include <vector>

#include "engine/collectives/contributions.h"
#include "engine/collectives/task.h"

/// Private to the sources of the proof.
namespace ringside {

/// The inputs and the required outputs of a collective.
class ProofGoal {
 public:
  /// shape  tasks: [rank], all on one channel
  explicit ProofGoal(std::span<const ChannelTask> tasks);

  /// Returns whether this rank's input contains the chunk.
  [[nodiscard]] bool has_input(const ChannelTask& task, int rank, int chunk) const;

  /// Returns the required final value of the output chunk, or nothing if the collective does not write it.
  [[nodiscard]] std::optional<Contributions> output(const ChannelTask& task, int rank,
                                                    int chunk) const;

  /// Returns the chunks of a loop that may have an output on this rank.
  [[nodiscard]] std::vector<int> chunks(const ChannelTask& task, int rank) const;

 private:
  Collective collective_;
  int n_;
  int root_ = 0;
};

}  // namespace ringside
