#pragma once

#include "engine/collectives/primitives.h"

/// Point-to-point: send/recv, all-to-all, gather and scatter are lists of sends and receives, in rounds on which all
/// ranks agree. In each round a rank sends to one rank and receives from one. Steps do not depend on each other, so an
/// executor may run transfers independently.
namespace ringside {

/// The transfers of a rank in one round.
struct Round {
  int send_chunk = -1;  ///< -1: no send
  int recv_chunk = -1;
  int send_port = -1;  ///< -1 in both ports: a copy to itself
  int recv_port = -1;
  friend bool operator==(const Round&, const Round&) = default;
};

/// A view of consecutive rounds, which the caller owns.
struct RoundList {
  const Round* first = nullptr;
  int count = 0;

  [[nodiscard]] RINGSIDE_HD const Round* begin() const { return first; }
  [[nodiscard]] RINGSIDE_HD const Round* end() const { return first + count; }
};

/// First strand: sends one piece of each transfer to another rank, round after round. A connection buffers the piece
/// until the receiver reaches the round, so no rank waits for its own sender before it sends.
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

/// Second strand: receives one piece of each transfer from another rank.
template <Primitives P>
RINGSIDE_HD void exchange_recvs(P& primitives, RoundList rounds) {
  for (const Round& round : rounds) {
    if (round.recv_port >= 0) primitives.recv(round.recv_chunk, port(round.recv_port));
  }
}

}  // namespace ringside
