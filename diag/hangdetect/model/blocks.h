#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "diag/hangdetect/model/job.h"

namespace ringside::hang {

/// The call in which a rank is blocked: its oldest call that has not ended. Later calls may be enqueued, but cannot run
/// before it.
struct Block {
  int group = -1;              ///< index of Job::groups()
  std::uint32_t sequence = 0;  ///< number of the call in the group
  bool is_p2p = false;
  /// No record shows the call as pending; it is the last call before an error
  bool is_guess = false;
  std::uint32_t call = 0;  ///< index into the rank's calls
  /// Global rank of a send's or receive's peer, -1: unknown. For a coalesced set: a peer that has not made its half,
  /// if there is one
  int peer = -1;
};

/// A collective in which ranks of a group are blocked, and the state of the other members.
struct Front {
  int group = -1;
  std::uint32_t sequence = 0;
  std::vector<int> waiting;  ///< ranks that are blocked in the call
  /// Ranks that made the call: it waits, has ended, or is queued behind another one
  std::vector<int> entered;
  std::vector<int> absent;  ///< ranks whose dump shows that they have not made the call
  std::vector<int> unseen;  ///< members without a dump
};

/// The most fronts of one group. A collective synchronises its group, so ranks of a real job wait in few of its calls;
/// foreign text may put each rank into a call of its own, and then the lists of all fronts would be quadratic.
inline constexpr std::size_t kMostFronts = 64;

/// The blocked call of each rank, and the wait graph of the job.
struct WaitState {
  std::vector<std::optional<Block>> blocks;  ///< by rank; nothing: not blocked
  /// Collectives only, by group and sequence number: the lowest kMostFronts of each group, where ranks are furthest
  /// behind
  std::vector<Front> fronts;
  /// By rank: the ranks that it waits for, ascending. In a call beyond kMostFronts: only those in the group's first front
  std::vector<std::vector<int>> waits;
  /// By rank: members without a dump, if members with a dump are absent too
  std::vector<std::vector<int>> may_wait;

  /// Returns the front in which the rank waits, or nullptr if it waits in no collective or beyond kMostFronts.
  [[nodiscard]] const Front* front_of(int rank) const;
};

/// Computes the blocked calls, the fronts and the wait graph of a job.
/// source  NCCL runs the calls of a communicator in launch order. A collective ends when all members have entered it, a
///         receive when its sender has sent, a send when its receiver has received.
WaitState wait_state_of(const Job& job);

/// Returns whether the rank does not wait in the blocked send or receive itself, whose data was buffered, or for which it waits
/// later: it has completed a collective that it made after it, or its dump says that the receiver has left.
bool has_gone_on(const Job& job, int rank, const Block& block);

/// Returns the peer's receive for a send of `rank`, or the peer's send for a receive: the one with the same index among
/// the transfers in that direction between both ranks. The sender may already be past it, because short messages are
/// sent before they are received.
/// returns  nullptr if the peer has not made it, or the two histories do not begin with the job
const Call* other_half_of(const Job& job, int rank, int group, const Call& call, int peer);

}  // namespace ringside::hang
