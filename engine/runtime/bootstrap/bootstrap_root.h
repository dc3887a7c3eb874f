#pragma once

#include <memory>

#include "base/clock.h"
#include "base/result.h"
#include "engine/runtime/bootstrap/unique_id.h"
#include "ringside/units.h"

namespace ringside {

/// How long a rank that has joined waits for the next one.
inline constexpr Nanoseconds kJoinTimeout = std::chrono::seconds(8);

struct RootOptions {
  SocketAddress listen = loopback_address();  ///< port 0: a free one
  Secret secret = {};
  bool wants_ticket = false;  ///< rank 0 runs this root, and no other process may join as rank 0
  int nranks = 0;             ///< 0: as many as the first rank to come says
  Nanoseconds join_timeout = kJoinTimeout;
  Clock* clock = &real_clock();  ///< of its waits; outlives it
};

/// Where the ranks of a job first meet. Lives in the process of rank 0 or of the launcher.
///
/// Each rank connects, proves the secret and sends its rank and the address where it listens. The root sends it
/// its successor's address as soon as both are known, and a message to all of them when all have come. It
/// answers on the rank's own connection, where NCCL dials back: one listening socket less for each
/// rank, no second path for a firewall to block, and a rank that dies is noticed by its connection.
///
/// It refuses a rank outside 0 .. n-1, one that came before, and one that has another n; the rank
/// gets the reason and the others go on waiting. A rank that it admits gets a random secret of this root: with it the ranks
/// prove themselves to each other from then on, so that knowing the job's secret, which may be easy to guess, does not allow
/// any other process to take the place of a rank that has joined. When no new rank comes for `join_timeout`, every rank
/// gets the list of missing ranks, and when one leaves, that it left; the job has then failed. Once all
/// have come they link up with their neighbours, and report it; a rank that does not is named likewise.
///
/// Threads    one of its own; id() and address() are for any
/// Ownership  may go once a rank's Bootstrap::join() has returned: what is to be said has been sent
class BootstrapRoot {
 public:
  /// errors  System: as listen_on()
  static Result<std::unique_ptr<BootstrapRoot>> start(const RootOptions& options);
  ~BootstrapRoot();
  BootstrapRoot(const BootstrapRoot&) = delete;
  BootstrapRoot& operator=(const BootstrapRoot&) = delete;

  /// Where it listens, with the port that the kernel chose.
  [[nodiscard]] const SocketAddress& address() const;

  /// The id with which ranks join; not for a root that listens on all interfaces (0.0.0.0).
  [[nodiscard]] UniqueId id() const;

  /// For BootstrapOptions::ticket of rank 0.
  [[nodiscard]] Secret ticket() const;

 private:
  class Impl;
  explicit BootstrapRoot(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringside
