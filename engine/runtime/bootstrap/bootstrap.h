#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/deadline.h"
#include "base/ids.h"
#include "base/result.h"
#include "engine/runtime/bootstrap/bootstrap_root.h"
#include "engine/runtime/bootstrap/unique_id.h"
#include "engine/transport/socket/patience.h"

namespace ringside {

class Wakeup;
struct RingLinks;

/// How a rank joins its job.
struct BootstrapOptions {
  Rank rank{0};
  int nranks = 1;
  UniqueId id = {};    ///< ignored if nranks is 1
  Secret ticket = {};  ///< on rank 0: BootstrapRoot::ticket(); elsewhere zero
  /// The interface on which other ranks reach this one; empty: the one that routes to the root.
  std::optional<SocketAddress> listen = {};
  Nanoseconds join_timeout = kJoinTimeout;
  std::string who = {};          ///< this process's name in messages; empty: "host:pid"
  Clock* clock = &real_clock();  ///< clock of all waits of the communicator; outlives it
  /// Cancels join() with Aborted when signalled; outlives join(); null: none
  const Wakeup* cancel = nullptr;
};

/// One rank's part of the bootstrap ring, over which ranks exchange addresses and settings before fast connections
/// exist. It has authenticated TCP connections to the next and from the previous rank.
///
/// Ordering   every rank makes the same calls in the same order
/// Threads    one at a time, except for abort(), patience(), rank(), nranks(), secret() and address()
class Bootstrap {
 public:
  /// Connects to the root and to both neighbours, and returns when all ranks have done so.
  /// errors  InvalidArgument: rank outside 0 .. nranks-1, or rejected by the root (a rank twice, another nranks).
  ///         Timeout: the named ranks did not join or did not connect to their neighbours, or the root does not answer.
  ///         PermissionDenied: the secret differs.  PeerGone: a rank or the root left.  System.
  static Result<std::unique_ptr<Bootstrap>> join(const BootstrapOptions& options);
  ~Bootstrap();
  Bootstrap(const Bootstrap&) = delete;
  Bootstrap& operator=(const Bootstrap&) = delete;

  /// Returns all ranks' bytes, concatenated by rank.
  /// shape   every rank passes the same number of bytes, 0 or more
  /// rounds  floor(n / 2): blocks travel in both directions at once
  /// errors  PeerGone, Timeout: name the neighbour.  InvalidArgument: the neighbour passed another number of bytes.
  ///         Corrupt: the neighbour is in another call.  Aborted.  After an error the ring is unusable.
  /// source  NCCL, socketDoubleRingAllGather
  Result<std::vector<std::byte>> all_gather(std::span<const std::byte> mine, Deadline deadline);

  /// Returns when every rank has called it.
  /// errors  as all_gather
  Status barrier(Deadline deadline);

  /// Do the same with a deadline of one minute for the slowest rank.
  Result<std::vector<std::byte>> all_gather(std::span<const std::byte> mine);
  Status barrier();

  /// Makes the current call, all later calls and all waits with patience() return Aborted.
  void abort() noexcept;

  /// Returns a Patience for other waits while the communicator is made: it ends at `until` or at abort().
  [[nodiscard]] Patience patience(Deadline until) const;

  /// Returns the connections of a second ring, for the Watch.  shape  called once
  [[nodiscard]] RingLinks take_watch_links();

  /// Returns a number that is the same on all ranks and differs between jobs.
  [[nodiscard]] std::uint64_t job() const;

  [[nodiscard]] Rank rank() const;
  [[nodiscard]] int nranks() const;
  [[nodiscard]] Rank next() const;
  [[nodiscard]] Rank previous() const;
  /// Returns the secret that the root gave to the ranks that it admitted, and with which they authenticate each other.
  [[nodiscard]] const Secret& secret() const;
  /// Returns BootstrapOptions::clock.
  [[nodiscard]] Clock& clock() const;
  /// Returns the address on which other ranks reach this one, with port 0.
  [[nodiscard]] const SocketAddress& address() const;

 private:
  class Impl;
  explicit Bootstrap(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringside
