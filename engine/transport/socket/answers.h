#pragma once

#include <optional>

#include "base/fd.h"
#include "base/result.h"
#include "engine/transport/socket/patience.h"

/// Whether the host at the other end of a TCP connection answers, and what it does not answer.
namespace ringside {

/// Watches what is sent over one connection to a reader that reads when it gets to it.
///
/// Threads  one at a time
class AnswerWatch {
 public:
  /// Whether the other host's kernel answers what was sent. A system call; a few while it does not.
  /// errors  Unreachable: nothing for kAnswerTimeout, though it was sent again. Where the host answers a new connection,
  ///         the text says so: then long packets alone are lost.
  Status check(int socket);

 private:
  void ask_host(int socket);

  UniqueFd attempt_;                 ///< at a new connection to the same host
  std::optional<bool> is_answered_;  ///< how that ended
};

/// Whether the host at the other end of a TCP connection answers a new one, if with a refusal: the shortest packets there are.
bool answers_short_packets(int socket, const Patience& patience);

}  // namespace ringside
