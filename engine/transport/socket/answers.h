#pragma once

#include <optional>

#include "base/fd.h"
#include "base/result.h"
#include "engine/transport/socket/patience.h"

/// Whether the host at the other end of a TCP connection answers, and what it does not answer.
namespace ringside {

/// Watches one TCP connection for data that the other host does not acknowledge, for receivers that may read late
/// (Attention::Late).
///
/// Threads  one at a time
class AnswerWatch {
 public:
  /// Checks that the other host's kernel acknowledges the sent data. Costs one system call, or a few while data is
  /// unacknowledged.
  /// errors  Unreachable: no acknowledgement for kAnswerTimeout, although the kernel resent the data. If the host
  ///         answers a new connection, the text says that only long packets are lost.
  Status check(int socket);

 private:
  void ask_host(int socket);

  UniqueFd attempt_;                 ///< an attempt to open a new connection to the same host
  std::optional<bool> is_answered_;  ///< result of the attempt; empty: not known yet
};

/// Returns whether the peer's host answers a new TCP connection, even by a refusal. That takes only the shortest
/// packets.
bool answers_short_packets(int socket, const Patience& patience);

}  // namespace ringside
