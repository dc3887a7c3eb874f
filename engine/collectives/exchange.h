#pragma once

#include "engine/collectives/primitives.h"

/// Point-to-point: send/recv, all-to-all, gather and scatter are lists of sends and receives, in rounds
/// that all ranks agree on: in each of them a rank sends to one and receives from one. No step needs another one: an executor
/// that can may let each transfer go on by itself.
namespace ringside {

/// What a rank does in one round.
struct Round {
  int send_chunk = -1;  ///< -1: sends nothing
  int recv_chunk = -1;
  int send_port = -1;  ///< -1 on both sides: to itself
  int recv_port = -1;
  friend bool operator==(const Round&, const Round&) = default;
};

/// Rounds that lie one after the other in memory of another owner.
struct RoundList {
  const Round* first = nullptr;
  int count = 0;

  [[nodiscard]] RINGSIDE_HD const Round* begin() const { return first; }
  [[nodiscard]] RINGSIDE_HD const Round* end() const { return first + count; }
};

/// The first strand: one piece of each transfer to another, round after round. A connection holds the piece until
/// its receiver gets to the round, so no rank has to wait for its own sender before it sends.
/// rounds  one for each peer      traffic  each transfer once, on its own connection
template <Primitives P>
RINGSIDE_HD void exchange_sends(P& primitives, RoundList rounds) {
  for (const Round& round : rounds) {
    if (round.send_port < 0 && round.recv_port < 0) {
      primitives.copy(round.send_chunk);
    } else if (round.send_port >= 0) {
      primitives.send(round.send_chunk, port(round.send_port));
    }
  }
}

/// The second strand: as many from others.
template <Primitives P>
RINGSIDE_HD void exchange_recvs(P& primitives, RoundList rounds) {
  for (const Round& round : rounds) {
    if (round.recv_port >= 0) primitives.recv(round.recv_chunk, port(round.recv_port));
  }
}

}  // namespace ringside
