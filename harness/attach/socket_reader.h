#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"
#include "engine/transport/socket/patience.h"

namespace ringside::attach {

/// Reads text from a peer that may be broken or hostile, with limits on the bytes, the length of a line and the time.
///
/// Threads    one at a time
/// Ownership  the caller owns the socket, which is non-blocking
class SocketReader {
 public:
  /// most_bytes  limit of all bytes that are read together
  SocketReader(int socket, std::size_t most_bytes) : socket_(socket), left_(most_bytes) {}

  static constexpr std::size_t kLongestLine = 64 * 1024;  ///< bytes

  /// Reads the next line, and returns it without its end.
  /// errors  PeerGone: the peer closed before the line ended; half() returns the received part.  Timeout;
  ///         Corrupt: a longer line, or more bytes than allowed
  Result<std::string> line(const Patience& patience);

  /// Reads exactly `count` bytes.
  /// errors  as line()
  Result<std::string> bytes(std::size_t count, const Patience& patience);

  /// Reads until the peer closes.
  /// errors  Timeout; Corrupt: more bytes than allowed
  Result<std::string> rest(const Patience& patience);

  /// Returns the bytes that were received and not yet returned.
  [[nodiscard]] const std::string& half() const { return held_; }

 private:
  Status receive(const Patience& patience);

  const int socket_;
  std::size_t left_;
  std::string held_;
};

}  // namespace ringside::attach
