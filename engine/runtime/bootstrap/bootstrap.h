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

struct BootstrapOptions {
  Rank rank{0};
  int nranks = 1;
  UniqueId id = {};    ///< not read when nranks is 1
  Secret ticket = {};  ///< of rank 0: BootstrapRoot::ticket()
  /// The interface where other ranks reach this one. None: the one that leads to the root.
  std::optional<SocketAddress> listen = {};
  Nanoseconds join_timeout = kJoinTimeout;
  std::string who = {};          ///< for messages; empty: "host:pid"
  Clock* clock = &real_clock();  ///< of all waits of the communicator; outlives it
  const Wakeup* off = nullptr;  ///< once it is signalled, join() ends with Aborted; outlives join()
};

/// One rank's place in the ring over which ranks exchange what they need to know before there
/// are fast connections: TCP to the next rank and from the previous one, both proven.
///
/// Ordering   every rank makes the same calls in the same order
/// Threads    one at a time, but for abort(), patience(), rank(), nranks(), secret() and address()
class Bootstrap {
 public:
  /// Goes to the root, makes the links to both neighbours, and returns when all ranks have theirs.
  /// errors  InvalidArgument: rank outside 0 .. nranks-1; what the root refuses (a rank twice, another
  ///         nranks).  Timeout: ranks never came, or have no links and say nothing (they are named), or the root does
  ///         not answer.
  ///         PermissionDenied: the secret differs.  PeerGone: a rank or the root left again.  System.
  static Result<std::unique_ptr<Bootstrap>> join(const BootstrapOptions& options);
  ~Bootstrap();
  Bootstrap(const Bootstrap&) = delete;
  Bootstrap& operator=(const Bootstrap&) = delete;

  /// All ranks' bytes, by rank.
  /// shape   every rank gives equally many; 0 is fine
  /// rounds  floor(n / 2): blocks travel both ways round at once
  /// errors  PeerGone, Timeout: name the neighbour.  InvalidArgument: it gave another number of bytes.
  ///         Corrupt: it is at another call.  Aborted.  After an error the ring is of no use.
  /// source  NCCL, socketDoubleRingAllGather
  Result<std::vector<std::byte>> all_gather(std::span<const std::byte> mine, Deadline deadline);

  /// Returns when every rank has called it.
  /// errors  as all_gather
  Status barrier(Deadline deadline);

  /// The same with one minute of patience for the slowest rank.
  Result<std::vector<std::byte>> all_gather(std::span<const std::byte> mine);
  Status barrier();

  /// Ends the current call, all later ones, and waits with patience(), with Aborted.
  void abort() noexcept;

  /// For other waits for ranks while the communicator is made: until then, or until abort().
  [[nodiscard]] Patience patience(Deadline until) const;

  /// A second ring of connections, for the Watch.  shape  asked for once
  [[nodiscard]] RingLinks take_watch_links();

  /// A number that is the same on all ranks and differs between jobs.
  [[nodiscard]] std::uint64_t job() const;

  [[nodiscard]] Rank rank() const;
  [[nodiscard]] int nranks() const;
  [[nodiscard]] Rank next() const;
  [[nodiscard]] Rank previous() const;
  /// The root's secret, which it gave to the ranks that it admitted. They prove themselves to each other with it.
  [[nodiscard]] const Secret& secret() const;
  /// The one for all users of the ring.
  [[nodiscard]] Clock& clock() const;
  /// Where other ranks reach this one, with port 0.
  [[nodiscard]] const SocketAddress& address() const;

 private:
  class Impl;
  explicit Bootstrap(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringside
