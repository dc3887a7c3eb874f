#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/collectives/direct_step.h"
#include "engine/collectives/record.h"
#include "engine/collectives/task.h"

namespace ringside {

/// The messages of one rank on one channel that senders store into their receivers' outputs.
struct DirectStores {
  std::vector<std::int32_t>
      first;  ///< [turn x strands + strand]: its first step; one more at the end
  std::vector<DirectStep> steps;  ///< by ProgramCursor::number()
  /// [sending end] point-to-point: by so many elements the receiver's place is off this rank's place of the same
  /// transfer's piece in its input. Of all else both mean the same place of their outputs.
  std::vector<std::int64_t> shift;

  [[nodiscard]] const DirectStep& at(int place, int number) const {
    return steps[static_cast<std::size_t>(first[static_cast<std::size_t>(place)] + number)];
  }
  [[nodiscard]] bool is_empty() const;
};

/// Where the ends of each port begin.  returns  [port], and one more at the end
std::vector<std::int32_t> first_ends(std::span<const Peer> peers, bool receives);

/// Finds the messages that their receivers would do nothing with but copy them to where they belong in the output
/// (recv and recv_copy_send of one message), by matching what both ends' programs say of them.
///
/// A store may come early: as soon as the sender has the data, and before the receiver has taken any step. Where the
/// receiver's input is its output's memory, what it is still to read of that must not be gone. So a message is left
/// out unless each step of the receiver that reads the chunk's input comes before the sender's step, through the
/// strands' own order and through messages of this chunk: then that holds at every loop, its ragged end included,
/// whatever the timing. prove() proves the outcome in another way.
///
/// tasks     of all ranks on one channel, by rank
/// programs  theirs
/// returns   by rank
std::vector<DirectStores> find_direct_stores(std::span<const ChannelTask> tasks,
                                             std::span<const Program> programs);

/// Of the programs that the tasks record.
std::vector<DirectStores> find_direct_stores(std::span<const ChannelTask> tasks);

}  // namespace ringside
