#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
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
  std::string peer;              ///< as describe_peer() says it
  std::vector<std::byte> hello;  ///< what the peer says it has come for; its meaning is the owner's
};

struct AcceptorLimits {
  Nanoseconds handshake =
      std::chrono::seconds(5);  ///< from connecting to the last byte of the hello
  std::size_t pending = 4096;   ///< connections in the handshake; one more drops the oldest
};

/// Listens, and accepts peers that prove the secret.
///
/// All handshakes run concurrently on one thread of its own, each with its time-out:
/// a stranger that is silent or slow delays no other peer. A peer that fails is logged as a warning with its
/// address (the first 32; then only every thousandth, so that a port scan fills no disk) and dropped.
///
/// Ordering   connections are handed out in the order in which their hellos were complete
/// Threads    any thread may call any method
/// Ownership  closes its socket and all that was not handed out when destroyed
class Acceptor {
 public:
  /// A TCP address (port 0: a free one) or an abstract Unix name.
  /// clock   of its own thread's waits
  /// errors  System: as listen_on()
  static Result<std::unique_ptr<Acceptor>> listen(const Endpoint& endpoint, const Secret& secret,
                                                  AcceptorLimits limits = {},
                                                  Clock& clock = real_clock());
  /// The same with a socket that listens already, as listen_on() gives it.
  static Result<std::unique_ptr<Acceptor>> serve(UniqueFd listener, const Secret& secret,
                                                 AcceptorLimits limits = {},
                                                 Clock& clock = real_clock());
  ~Acceptor();
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  /// Where it listens, with the port that the kernel chose.
  [[nodiscard]] const Endpoint& address() const;

  /// errors  Timeout; Aborted: called off, or close() was called
  Result<Accepted> accept(const Patience& patience);

  /// For poll(2): readable while accept() would not wait.
  [[nodiscard]] int ready_fd() const;

  /// Ends every accept(), now and later. Does not wait.
  void close() noexcept;

 private:
  class Impl;
  explicit Acceptor(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// The other side of an Acceptor: connects, proves the secret, has it proved, says hello.
/// shape   hello: at most kHelloLimit bytes
/// errors  as connect_to() and shake_hands()
Result<UniqueFd> connect_authenticated(const Endpoint& endpoint, const Secret& secret,
                                       std::span<const std::byte> hello, const Patience& patience,
                                       NoListener no_listener = NoListener::IsEarly,
                                       Segments segments = Segments::Long);

}  // namespace ringside
