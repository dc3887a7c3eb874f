#pragma once

#include <compare>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/deadline.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/units.h"
#include "base/vocabulary.h"
#include "engine/transport/end.h"

namespace ringside {

class Bootstrap;
class Failure;

enum class TransportKind : std::uint8_t { Shm = 0, Tcp = 1 };
const char* to_string(TransportKind kind);

/// Which connection: both ends call it by the same name, and there is one of each name.
struct ConnectionId {
  std::uint32_t from = 0;  ///< the rank that sends
  std::uint32_t to = 0;    ///< the rank that receives
  std::uint32_t channel = 0;
  std::uint32_t index = 0;  ///< which of several from the one to the other
  Protocol protocol = Protocol::Simple;
  std::uint64_t slot_size = 0;  ///< bytes of data that one slot carries
  friend auto operator<=>(const ConnectionId&, const ConnectionId&) = default;
};

/// Over tcp, the two connections between two ranks that are made together share a socket if their slots are no
/// longer than this, or of LL or LL128: what one direction receives, the kernel acknowledges along with what the
/// other one sends. All-reduce of 8 B, 2 ranks over loopback: 3.8 us, 5.3 us with two sockets. Long transfers keep two:
/// of one socket, they at times take twice as long (64 MiB: 25 ms and 58 ms).
inline constexpr Bytes kShortSlot{8 << 10};

/// How the ranks of a communicator lie on hosts and cores.
struct HostLayout {
  int local_ranks = 1;      ///< on this rank's host, itself included
  int local_cores = 1;      ///< that those may run on, together
  Bytes cache{1 << 20};     ///< second level, of the core that has the least of it among all ranks
  bool is_crowded = false;  ///< on some host there are more ranks than cores
  int ranks_per_node = 0;   ///< of several hosts with equally many neighbouring ranks each; else 0
  /// Over the hops from each rank to the next: "shm", "tcp", "shm+tcp", or "none" with one rank.
  std::string transport = "none";
};

/// One rank's connections, made when they are first asked for and kept for the communicator's life:
/// algorithms share them. shm where the two ranks share a host, tcp elsewhere, or what the caller insists
/// on; within a rank, its own memory.
///
/// Ordering   every rank makes the same calls of connect(), and the two ranks of a connection name it in the
///            same one; one that comes early is kept
/// Threads    one at a time calls connect(), send_end() and recv_end(); any thread calls abort()
/// Ownership  the ends are this object's
class Connections {
 public:
  /// Tells every rank where this one listens. Every rank calls it at the same time.
  /// failure  once it has happened, waiting for others ends early; outlives the object
  /// errors   as Bootstrap::all_gather(); System: no sockets.  Unsupported: shm asked for between two hosts
  static Result<std::unique_ptr<Connections>> make(Bootstrap& bootstrap,
                                                   std::optional<TransportKind> transport,
                                                   const Failure& failure, Deadline deadline);
  ~Connections();

  /// Makes those that are not there yet, each of them from or to this rank.
  /// errors  Timeout, PeerGone, System: name the peer and the channel.  Aborted: the job has failed.
  ///         InvalidArgument: the peer wants a connection of another protocol or slot size
  Status connect(std::span<const ConnectionId> wanted, Deadline deadline);

  /// shape  it has been connected, from or to this rank
  [[nodiscard]] SendEnd& send_end(const ConnectionId& id) const;
  [[nodiscard]] RecvEnd& recv_end(const ConnectionId& id) const;

  /// Whether the end has no thread nor memory that moves its data: progress() has to be called.
  [[nodiscard]] bool needs_progress(const ConnectionId& id) const;

  /// Ends every wait, on the ends that are there and on those that come.
  void abort() noexcept;

  [[nodiscard]] const HostLayout& layout() const;

 private:
  class Impl;
  explicit Connections(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringside
