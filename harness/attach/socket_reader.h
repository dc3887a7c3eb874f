#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"
#include "engine/transport/socket/patience.h"

namespace ringside::attach {

/// Reads text from a peer that may be broken or hostile: so many bytes in all, so long a line, and never longer than the
/// caller waits.
///
/// Threads    one at a time
/// Ownership  the socket is the caller's, and non-blocking
class SocketReader {
 public:
  SocketReader(int socket, std::size_t most_bytes) : socket_(socket), left_(most_bytes) {}

  static constexpr std::size_t kLongestLine = 64 * 1024;

  /// The next line, without its end.
  /// errors  PeerGone: the peer closed before the line ended; what came of it is in `half()`.  Timeout;
  ///         Corrupt: a longer line, or more bytes than allowed
  Result<std::string> line(const Patience& patience);

  /// So many bytes.
  /// errors  as line()
  Result<std::string> bytes(std::size_t count, const Patience& patience);

  /// All that comes until the peer closes.
  /// errors  Timeout; Corrupt: more bytes than allowed
  Result<std::string> rest(const Patience& patience);

  /// What has been received and not returned.
  [[nodiscard]] const std::string& half() const { return held_; }

 private:
  Status receive(const Patience& patience);

  const int socket_;
  std::size_t left_;
  std::string held_;
};

}  // namespace ringside::attach
