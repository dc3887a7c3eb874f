#pragma once

#include <memory>

#include "base/clock.h"
#include "base/result.h"
#include "engine/runtime/bootstrap/unique_id.h"
#include "ringside/units.h"

namespace ringside {

/// How long the root waits for the next rank to join.
inline constexpr Nanoseconds kJoinTimeout = std::chrono::seconds(8);

/// How the root listens, and which ranks it admits.
struct RootOptions {
  SocketAddress listen = loopback_address();  ///< port 0: the kernel chooses
  Secret secret = {};
  /// Rank 0 runs this root: only a process with ticket() may join as rank 0
  bool wants_ticket = false;
  int nranks = 0;  ///< number of ranks; 0: as the first rank to join says
  Nanoseconds join_timeout = kJoinTimeout;
  Clock* clock = &real_clock();  ///< clock of its waits; outlives it
};

/// The rendezvous server where the ranks of a job first meet. It runs in the process of rank 0 or of the launcher.
///
/// Each rank connects, proves the secret and sends its rank and the address where it listens. The root sends the rank
/// its successor's address as soon as it is known, and notifies all ranks when all have joined. It answers on the
/// rank's own connection, while NCCL connects back. That saves a listening socket per rank, leaves no second path for a
/// firewall to block, and a closed connection shows a dead rank.
///
/// It rejects a rank outside 0 .. n-1, a rank that joined before, and a rank with another n; that rank gets the reason,
/// and the others keep waiting. An admitted rank gets a random secret of this root, with which the ranks authenticate
/// each other from then on. So a process that guesses the job's secret cannot replace a rank that has joined. If no new
/// rank joins for `join_timeout`, every rank gets the list of missing ranks; if a rank leaves, every rank is notified.
/// In both cases the job has failed. Once all have joined, they connect to their neighbours and report it; the root
/// names ranks that do not.
///
/// Threads    it runs on a thread of its own; any thread may call its methods
/// Ownership  may be destroyed once this process's Bootstrap::join() has returned: all its messages have been sent
class BootstrapRoot {
 public:
  /// Starts the server's thread.
  /// errors  InvalidArgument: RootOptions::nranks is negative or too large.  System: as listen_on()
  static Result<std::unique_ptr<BootstrapRoot>> start(const RootOptions& options);
  ~BootstrapRoot();
  BootstrapRoot(const BootstrapRoot&) = delete;
  BootstrapRoot& operator=(const BootstrapRoot&) = delete;

  /// Returns the address where it listens, with the port that the kernel chose.
  [[nodiscard]] const SocketAddress& address() const;

  /// Returns the id with which ranks join.  shape  the root does not listen on all interfaces (0.0.0.0)
  [[nodiscard]] UniqueId id() const;

  /// Returns the value for BootstrapOptions::ticket of rank 0.
  [[nodiscard]] Secret ticket() const;

 private:
  class Impl;
  explicit BootstrapRoot(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringside
