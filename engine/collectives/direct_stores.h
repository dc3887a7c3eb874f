#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/collectives/direct_step.h"
#include "engine/collectives/record.h"
#include "engine/collectives/task.h"

namespace ringside {

/// The messages of one rank on one channel that the sender stores directly into the receiver's output, without a slot.
struct DirectStores {
  /// [turn x strands + strand]: index of its first step; plus a last element, the number of steps
  std::vector<std::int32_t> first;
  std::vector<DirectStep> steps;  ///< by ProgramCursor::number()
  /// [sending end], point-to-point only: the offset of a piece in the receiver's output minus its offset in this rank's
  /// input, elements. For other collectives both use the same offset in their outputs.
  std::vector<std::int64_t> shift;

  [[nodiscard]] const DirectStep& at(int place, int number) const {
    return steps[static_cast<std::size_t>(first[static_cast<std::size_t>(place)] + number)];
  }
  [[nodiscard]] bool is_empty() const;
};

/// Returns the index of each port's first end.  returns  [port], plus a last element, the number of ends
std::vector<std::int32_t> first_ends(std::span<const Peer> peers, bool receives);

/// Finds the messages that the receiver would only copy to their place in the output (recv and recv_copy_send of one
/// message), by matching the programs of both ends.
///
/// A store may happen as soon as the sender has the data, before the receiver has taken any step. If the receiver works
/// in place, the store must not overwrite input that it still has to read. So a message is excluded unless each step of
/// the receiver that reads the chunk's input precedes the sender's step, by the order of strands and by messages of
/// this chunk. This then holds in every loop, whatever the timing. prove() verifies the result independently.
///
/// tasks     [rank]: the tasks on one channel
/// programs  [rank]: their programs
/// returns   [rank]
std::vector<DirectStores> find_direct_stores(std::span<const ChannelTask> tasks,
                                             std::span<const Program> programs);

/// Does the same with record() of each task.
std::vector<DirectStores> find_direct_stores(std::span<const ChannelTask> tasks);

}  // namespace ringside
