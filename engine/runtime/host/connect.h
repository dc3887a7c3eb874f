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

/// The name of a connection: both ends use the same one, and names are unique.
struct ConnectionId {
  std::uint32_t from = 0;  ///< the rank that sends
  std::uint32_t to = 0;    ///< the rank that receives
  std::uint32_t channel = 0;
  std::uint32_t index = 0;  ///< which of several from the one to the other
  Protocol protocol = Protocol::Simple;
  std::uint64_t slot_size = 0;  ///< bytes of data that one slot carries
  friend auto operator<=>(const ConnectionId&, const ConnectionId&) = default;
};

/// One rank's connections, made when they are first asked for and kept for the communicator's life:
/// algorithms share them. They use the first transport of the table that joins the two ranks, or the requested
/// one.
///
/// Ordering   every rank makes the same calls of connect(), and the two ranks of a connection name it in the
///            same one; one that comes early is kept. In begin() each rank may name further ones as well
/// Threads    one at a time calls connect(), begin(), send_end() and recv_end(); any thread calls the rest
/// Ownership  the ends are this object's
class Connections {
 public:
  /// Opens the transports, and sends this rank's addresses to every rank. Every rank calls it at the same time.
  /// requested  the transport to use; null: the fastest that there is between two ranks
  /// faults   of the connections to be made; its plan outlives them
  /// errors   as Bootstrap::all_gather(); System: no sockets.  Unsupported: the requested one does
  ///          not join all ranks
  static Result<std::unique_ptr<Connections>> make(Bootstrap& bootstrap, const Transport* requested,
                                                   Deadline deadline, LinkFaults faults = {});
  ~Connections();

  /// The memory that an end works on if its owner lends some (Joint::lent); nothing: it has slots of its own. Called for
  /// connections of Simple whose transport takes such memory, before the end is made.
  /// errors  whatever keeps it from lending: the connection is not made
  using Lender = std::function<Result<LentOffers>(const ConnectionId& id, bool receives)>;
  /// For connections that are made from now on.
  void set_lender(Lender lender);

  /// Makes the missing connections, each of them from or to this rank.
  /// errors  Timeout, PeerGone, System: name the peer and the channel.  Aborted: abort() was called.
  ///         InvalidArgument: the peer wants a connection of another protocol or slot size
  Status connect(std::span<const ConnectionId> wanted, Deadline deadline);

  /// Begins to make the missing connections, for a call whose parts need not wait for each other: the
  /// other ranks may name each of them in another call of theirs.
  /// errors  as connect(); the other ranks are waited for in advance() alone
  Status begin(std::span<const ConnectionId> wanted, Deadline deadline);

  /// Makes those of begin() whose peers have come. Does not wait.
  /// errors  as connect(), but for Timeout
  Status advance();

  /// Null: it is not made yet.
  [[nodiscard]] SendEnd* find_send_end(const ConnectionId& id) const;
  [[nodiscard]] RecvEnd* find_recv_end(const ConnectionId& id) const;

  /// shape  it has been connected, from or to this rank
  [[nodiscard]] SendEnd& send_end(const ConnectionId& id) const;
  [[nodiscard]] RecvEnd& recv_end(const ConnectionId& id) const;

  /// Its progress, at this end.  shape  it has been connected, from or to this rank
  [[nodiscard]] ConnectionCount& count_of(const ConnectionId& id, bool receives) const;

  /// The same of all that exist.
  /// Threads  any
  struct Progress {
    ConnectionId id;
    bool receives = false;
    std::uint64_t messages = 0, bytes = 0;
    bool is_waiting = false;
  };
  [[nodiscard]] std::vector<Progress> progress() const;

  /// Its transport.  shape  it has been connected
  [[nodiscard]] const Transport& transport_of(const ConnectionId& id) const;

  /// Ends every wait: of connect(), on the ends that are there, and on those that come.
  void abort() noexcept;

  [[nodiscard]] const HostLayout& layout() const;
  [[nodiscard]] const Peers& peers() const;

 private:
  class Impl;
  explicit Connections(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringside
