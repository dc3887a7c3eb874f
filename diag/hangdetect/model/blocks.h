#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "diag/hangdetect/model/job.h"

namespace ringside::hang {

/// The call in which a rank is blocked: its oldest one that has not ended.
///
/// The host may have enqueued more calls after it; they cannot run before it does.
struct Block {
  int group = -1;
  std::uint32_t sequence = 0;
  bool is_p2p = false;
  bool is_guess = false;   ///< no record shows it pending: it is the last call before an error
  std::uint32_t call = 0;  ///< index into the rank's calls
  int peer = -1;  ///< of a send or receive: global rank; -1 unknown. Of a coalesced set of them,
                  ///< one whose other half has not arrived, if any
};

/// One call of one group in which ranks are blocked, and where its members are.
struct Front {
  int group = -1;
  std::uint32_t sequence = 0;
  std::vector<int> waiting;  ///< ranks blocked in it
  std::vector<int> entered;  ///< have made it: waiting, ended, or queued after another call
  std::vector<int> absent;   ///< their dump shows that they have not made it
  std::vector<int> unseen;   ///< members without a dump
};

/// Where each rank is blocked.
struct WaitState {
  std::vector<std::optional<Block>> blocks;  ///< by rank
  std::vector<Front> fronts;                 ///< collectives only, by time of their first call
  std::vector<std::vector<int>> waits;       ///< by rank: the ranks that it waits for, ascending
  std::vector<std::vector<int>>
      may_wait;  ///< members without a dump, where members with one are absent too

  [[nodiscard]] const Front* front_of(int rank) const;
};

/// returns  the ranks' blocks, the fronts, and which ranks each rank waits for
/// source   NCCL: calls of a communicator run in order of their launch; a collective ends when all have
///          entered it; a receive ends when its sender has sent, a send when its receiver takes
WaitState wait_state_of(const Job& job);

/// The peer's half of a send or receive of `rank`: as many of that direction between the two went before it. A sender
/// may be past it, as short messages are sent before they are received.
/// returns  null: not made, or the two histories do not begin with the job
const Call* other_half_of(const Job& job, int rank, int group, const Call& call, int peer);

}  // namespace ringside::hang
