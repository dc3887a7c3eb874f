#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/env.h"
#include "base/fd.h"
#include "base/result.h"
#include "engine/transport/end.h"
#include "engine/transport/lent_slots.h"
#include "engine/transport/preamble.h"
#include "engine/transport/socket/address.h"
#include "engine/transport/socket/patience.h"
#include "ringside/units.h"

/// The table of transports, through which the rest of the engine uses shm, tcp and the others. To add a transport, add
/// a file pair and a row in transport.cpp.
namespace ringside {

/// The type of listening socket (door) on which the two ranks of a connection meet. Each rank proves there that it
/// knows the job's secret.
enum class Door : std::uint8_t {
  None,     ///< no socket: both ends belong to one rank
  Host,     ///< an abstract Unix socket, within a host; it can pass open files
  Network,  ///< a TCP socket, reachable from other hosts
};
inline constexpr std::size_t kDoors = 3;

/// The type of memory that contains buffers or slots.
enum class MemoryKind : std::uint8_t { Host, Device };

/// A rank's host and addresses, which it sends to all ranks before connections are made. All ranks have the same
/// values, so they make the same choices.
struct Whereabouts {
  struct Open {
    std::string transport;  ///< name of the transport; ranks may have different tables
    std::string address;    ///< as TransportState::address()
    friend bool operator==(const Open&, const Open&) = default;
  };
  std::uint32_t rank = 0;
  /// Equal for two ranks exactly when they can share memory and abstract Unix sockets.
  std::string host = {};
  /// [door]: where the rank listens, as to_string(Endpoint); empty: nowhere
  std::array<std::string, kDoors> doors = {};
  std::vector<Open> open = {};  ///< the transports by which the rank can be reached

  /// Returns the rank's address on the transport, or null if the rank has none.
  [[nodiscard]] const std::string* address_on(std::string_view transport) const;
  friend bool operator==(const Whereabouts&, const Whereabouts&) = default;
};

/// A description of this rank, which a transport needs to open its resources.
struct LocalSite {
  std::uint32_t rank = 0;
  std::string host = {};
  SocketAddress interface = {};  ///< address on which other hosts reach it; port 0
  Clock* clock = &real_clock();  ///< clock of waits at its doors; outlives it
  Environment environment = env_text;
};

/// The resources that a transport keeps open on a rank for all its connections: adapters, queues, registered memory.
///
/// Threads    one at a time
/// Ownership  outlives the ends that were made with it
class TransportState {
 public:
  virtual ~TransportState() = default;

  /// Returns the transport's description of this rank for the other ranks, such as its adapters. They use it to decide
  /// whether and by which adapter they can reach this rank.  shape  at most kLongestAddress bytes
  [[nodiscard]] virtual std::string address() const { return {}; }
};
inline constexpr std::size_t kLongestAddress = 4096;

/// The inputs of one end of a connection.
struct Joint {
  UniqueFd peer;  ///< the authenticated, non-blocking socket from the door; empty without a door
  /// Further sockets of the same connection, in the same order on both ends
  std::vector<UniqueFd> more = {};
  ConnectionShape shape;
  std::uint32_t channel = 0;        ///< channel number; it selects one of several adapters
  std::string_view address = {};    ///< the other rank's address on this transport
  TransportState* state = nullptr;  ///< the result of Transport::listen() on this rank
  Patience patience;                ///< limit for all waits while the end is made
  LentOffers lent = {};  ///< buffers offered for slots; used with takes_lent_slots and Simple
};

/// One row of the table: a transport, its properties and the functions that make its ends.
struct Transport {
  std::string_view name = {};   ///< name in options and reports
  std::string_view joins = {};  ///< the ranks that it can connect, as text: "ranks of one host"
  Door door = Door::Network;
  std::string_view nccl_network = {};  ///< `Socket` of NCCL's `via NET/Socket`; empty: no network

  // Properties of the ends.
  bool waits_for_receiver = false;  ///< make_send() waits for a message of the peer's make_recv()
  bool needs_progress = false;  ///< data moves only in calls: waiting ranks must call progress()
  /// Number of polls before a waiting rank first yields its core; 0: as between ranks of a host. It is smaller if a
  /// poll is costly, or if the kernel may need the core to move the bytes.
  int spins = 0;
  bool takes_lent_slots = false;  ///< Joint::lent
  bool takes_host_memory = true;
  bool takes_device_memory = false;

  // Parameters for best performance.
  /// Largest call that uses LL instead of LL128 if no rule of a host table matches; 0: never.
  Bytes ll_up_to{0};
  Bytes longest_slot{128 << 10};  ///< longer slots are no faster
  /// Slot size between hosts, where latency times bandwidth determines how much must be in flight; 0: as within one
  /// host.
  Bytes slot_between_hosts{0};
  /// Largest slot with which the two connections between two ranks share a socket; LL and LL128 always share one. 0:
  /// each connection has its own. Making ends on a shared socket does not wait.
  Bytes shares_socket_up_to{0};

  /// Returns the number of sockets of a connection; null: one.  receiver: the receiving rank's address on the transport
  std::size_t (*sockets)(std::string_view receiver, ConnectionShape shape) = nullptr;

  /// Returns whether it can connect two ranks that both have it open.
  bool (*reaches)(const Whereabouts& from, const Whereabouts& to) = nullptr;

  /// Opens its resources on this rank. Null: it needs no resources besides the door.
  /// errors  Unsupported: the rank lacks the hardware or library, and cannot be reached by this transport
  Result<std::unique_ptr<TransportState>> (*listen)(const LocalSite& here) = nullptr;

  /// Makes the receiving end. All ranks make receiving ends before sending ends. It may send to the peer, but must not
  /// wait for a message; peek() reads later messages.
  /// errors  PeerGone, Timeout, Aborted; System, InvalidArgument, Corrupt: specific to the transport
  Result<std::unique_ptr<RecvEnd>> (*make_recv)(Joint joint) = nullptr;

  /// Makes the sending end. It may wait for a message of the peer's make_recv().
  /// errors  as make_recv()
  Result<std::unique_ptr<SendEnd>> (*make_send)(Joint joint) = nullptr;

  [[nodiscard]] bool shares_sockets() const { return shares_socket_up_to.value != 0; }
  /// Returns whether it connects a rank to itself. Users cannot request such a transport.
  [[nodiscard]] bool is_inner() const { return door == Door::None; }
};

/// Returns all transports, the fastest first. A row is identified by its address.
std::span<const Transport> transports();

/// Returns the fastest transport between different ranks of a host.
const Transport& usual_transport();

/// Returns the names that users may request: all transports except the one from a rank to itself.
std::vector<std::string_view> transport_names();

/// Returns the transport of that name.
/// errors  InvalidArgument: not one of transport_names(); the error suggests the closest name
Result<const Transport*> parse_transport(std::string_view name);

/// Returns the first transport of `table` that both ranks have open, that can connect them and that supports the
/// memory; null: none.
const Transport* choose_transport(std::span<const Transport> table, const Whereabouts& from,
                                  const Whereabouts& to, MemoryKind memory = MemoryKind::Host);

}  // namespace ringside
