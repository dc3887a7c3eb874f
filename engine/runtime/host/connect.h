#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/deadline.h"
#include "base/result.h"
#include "base/vocabulary.h"
#include "engine/faults/link_faults.h"
#include "engine/runtime/bootstrap/peers.h"
#include "engine/runtime/host/connection_count.h"
#include "engine/transport/end.h"
#include "engine/transport/transport.h"

namespace ringside {

class Bootstrap;

/// Identifies a connection. Both ends use the same id, and ids are unique.
struct ConnectionId {
  std::uint32_t from = 0;  ///< the rank that sends
  std::uint32_t to = 0;    ///< the rank that receives
  std::uint32_t channel = 0;
  /// Number of the connection among those with the same ranks and channel
  std::uint32_t index = 0;
  Protocol protocol = Protocol::Simple;
  std::uint64_t slot_size = 0;  ///< bytes of data that one slot carries
  friend auto operator<=>(const ConnectionId&, const ConnectionId&) = default;
};

/// One rank's connections. They are made on first use, kept for the communicator's life and shared by all algorithms.
/// They use the requested transport, or else the first of the table that can connect the two ranks.
///
/// Ordering   every rank makes the same calls of connect(), and both ranks of a connection name it in the same call; a
///            peer that connects early is kept. In begin(), the peer may name a connection in another call
/// Threads    one thread at a time calls connect(), begin(), advance(), send_end() and recv_end(); any thread may call
///            the rest
/// Ownership  this object owns the ends
class Connections {
 public:
  /// Opens the transports, and sends this rank's addresses to every rank. Every rank calls it at the same time.
  /// requested  the transport to use; null: the fastest one between two ranks
  /// faults   faults on the connections; the fault plan outlives them
  /// errors   as Bootstrap::all_gather(); System: no sockets.  Unsupported: the requested transport cannot connect all
  ///          ranks
  static Result<std::unique_ptr<Connections>> make(Bootstrap& bootstrap, const Transport* requested,
                                                   Deadline deadline, LinkFaults faults = {});
  ~Connections();

  /// Returns the memory that a new end may use for its slots (Joint::lent); empty: the end allocates its own. Called
  /// before an end of a Simple connection is made, if the transport accepts such memory.
  /// errors  any error: the connection is not made
  using Lender = std::function<Result<LentOffers>(const ConnectionId& id, bool receives)>;
  /// Sets the lender for connections that are made later.
  void set_lender(Lender lender);

  /// Makes the connections that do not exist yet, and waits for their peers. Each one is from or to this rank. It also
  /// waits for the connections of begin() that are not complete.
  /// errors  Timeout, PeerGone, System: name the peer and the channel.  Aborted: abort() was called.
  ///         InvalidArgument: the peer uses another protocol or slot size
  Status connect(std::span<const ConnectionId> wanted, Deadline deadline);

  /// Begins to make missing connections without waiting for their peers, for sends and receives that do not wait for
  /// each other. A peer may name each connection in another call; advance() completes them. Several calls of begin() may
  /// be incomplete at once.
  /// deadline  of the latest begin(): advance() makes no end after it
  /// errors  as connect(), except those of waiting for a peer
  Status begin(std::span<const ConnectionId> wanted, Deadline deadline);

  /// Completes the connections of begin() whose peers have arrived. Does not wait.
  /// errors  as connect(), except Timeout
  Status advance();

  /// Returns the end of a connection, or null if it does not exist yet.
  [[nodiscard]] SendEnd* find_send_end(const ConnectionId& id) const;
  [[nodiscard]] RecvEnd* find_recv_end(const ConnectionId& id) const;

  /// shape  it has been connected, from or to this rank
  [[nodiscard]] SendEnd& send_end(const ConnectionId& id) const;
  [[nodiscard]] RecvEnd& recv_end(const ConnectionId& id) const;

  /// Returns the progress of a connection at this end.
  /// shape  the connection exists, from or to this rank
  [[nodiscard]] ConnectionCount& count_of(const ConnectionId& id, bool receives) const;

  /// The progress of one connection at this end.
  /// Threads  any
  struct Progress {
    ConnectionId id;
    bool receives = false;
    std::uint64_t messages = 0, bytes = 0;
    bool is_waiting = false;
  };
  [[nodiscard]] std::vector<Progress> progress() const;

  /// Returns the transport of a connection.  shape  the connection exists
  [[nodiscard]] const Transport& transport_of(const ConnectionId& id) const;

  /// Makes every wait return: in connect(), and on all present and future ends.
  void abort() noexcept;

  [[nodiscard]] const HostLayout& layout() const;
  [[nodiscard]] const Peers& peers() const;

 private:
  class Impl;
  explicit Connections(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringside
