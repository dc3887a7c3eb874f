#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "engine/transport/socket/address.h"
#include "engine/transport/socket/handshake.h"
#include "engine/transport/socket/patience.h"
#include "engine/transport/socket/socket.h"

namespace ringside {

inline constexpr std::size_t kHelloLimit = 256;  ///< bytes

/// A connection whose other end has proved the secret.
struct Accepted {
  UniqueFd fd;                   ///< non-blocking; nothing behind the hello has been read from it
  std::string peer;              ///< text of describe_peer()
  std::vector<std::byte> hello;  ///< the peer's first message; the Acceptor does not interpret it
};

/// The limits that a slow or hostile peer meets.
struct AcceptorLimits {
  /// Limit from connecting to the last byte of the hello
  Nanoseconds handshake = std::chrono::seconds(5);
  std::size_t pending = 4096;  ///< most connections in the handshake; another one drops the oldest
};

/// Listens on an address, and accepts peers that prove the job's secret.
///
/// All handshakes run concurrently on one thread of its own, each with its time-out: a silent or slow client delays no
/// other peer. A peer that fails the handshake, is too slow for it, or makes room for newer ones, is dropped and logged
/// as a warning with its address: the first 32, then every thousandth, so that a port scan does not fill the disk. A
/// peer that closes its connection is not logged: it reports that itself.
///
/// Ordering   accept() returns connections in the order in which their hellos were complete
/// Threads    any thread may call any method
/// Ownership  the destructor closes its socket and all connections that accept() has not returned
class Acceptor {
 public:
  /// Listens on a TCP address (port 0: the kernel chooses) or an abstract Unix name.
  /// clock   clock of its thread's waits
  /// errors  System: as listen_on()
  static Result<std::unique_ptr<Acceptor>> listen(const Endpoint& endpoint, const Secret& secret,
                                                  AcceptorLimits limits = {},
                                                  Clock& clock = real_clock());
  /// Serves a socket that already listens, as made by listen_on().
  /// errors  System: out of file descriptors
  static Result<std::unique_ptr<Acceptor>> serve(UniqueFd listener, const Secret& secret,
                                                 AcceptorLimits limits = {},
                                                 Clock& clock = real_clock());
  ~Acceptor();
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  /// Returns the address where it listens, with the port that the kernel chose.
  [[nodiscard]] const Endpoint& address() const;

  /// Waits for the next authenticated connection.
  /// errors  Timeout; Aborted: `patience` was cancelled, or close() was called
  Result<Accepted> accept(const Patience& patience);

  /// Returns a descriptor for poll(2) that is readable while accept() would return at once.
  [[nodiscard]] int ready_fd() const;

  /// Makes every current and later accept() return Aborted. Does not wait.
  void close() noexcept;

 private:
  class Impl;
  explicit Acceptor(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Returns a socket name that no other process uses: random, after "ringside-".
/// for_what  a part of the name, for a user who lists the host's sockets (ss -xl)
AbstractName fresh_name(std::string_view for_what);

/// Connects to an Acceptor: both sides prove the secret, then this side sends `hello`.
/// shape   hello: at most kHelloLimit bytes
/// errors  as connect_to() and shake_hands()
Result<UniqueFd> connect_authenticated(const Endpoint& endpoint, const Secret& secret,
                                       std::span<const std::byte> hello, const Patience& patience,
                                       NoListener no_listener = NoListener::IsEarly,
                                       Segments segments = Segments::Long);

}  // namespace ringside
