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

/// The table of transports: all that the rest of the engine knows of shm, tcp and the others. Adding one is a
/// file pair and a row in transport.cpp.
namespace ringside {

/// Where the two ranks of a connection meet to make it: each proves there that it has the job's secret.
enum class Door : std::uint8_t {
  None,     ///< nowhere: both ends are one rank's
  Host,     ///< an abstract Unix socket: within a host. Open files can be passed.
  Network,  ///< a TCP socket: from everywhere
};
inline constexpr std::size_t kDoors = 3;

/// Where buffers and slots lie.
enum class MemoryKind : std::uint8_t { Host, Device };

/// What a rank has sent to all others before any connection is made: the same on every rank, so that all of
/// them choose alike.
struct Whereabouts {
  struct Open {
    std::string transport;  ///< by name: ranks may have different tables
    std::string address;    ///< as TransportState has it
    friend bool operator==(const Open&, const Open&) = default;
  };
  std::uint32_t rank = 0;
  /// Equal for two ranks exactly when they can share memory and abstract Unix sockets.
  std::string host = {};
  std::array<std::string, kDoors> doors =
      {};                       ///< where it listens, as to_string(Endpoint); empty: nowhere
  std::vector<Open> open = {};  ///< the transports that it can be reached by

  /// The rank's address on the transport; null where it has none.
  [[nodiscard]] const std::string* address_on(std::string_view transport) const;
  friend bool operator==(const Whereabouts&, const Whereabouts&) = default;
};

/// The rank's own site, for a transport that opens its resources.
struct LocalSite {
  std::uint32_t rank = 0;
  std::string host = {};
  SocketAddress interface = {};  ///< that other hosts reach it by; port 0
  Clock* clock = &real_clock();  ///< of what waits at its doors; outlives it
  Environment environment = env_text;
};

/// What a transport keeps open on a rank for all its connections: cards, queues, registered memory.
///
/// Threads    one at a time
/// Ownership  outlives the ends that were made with it
class TransportState {
 public:
  virtual ~TransportState() = default;

  /// For the other ranks: the transport's own description, such as its cards and their places. From it
  /// they decide whether they reach this rank, and over what.  shape  at most kLongestAddress bytes
  [[nodiscard]] virtual std::string address() const { return {}; }
};
inline constexpr std::size_t kLongestAddress = 4096;

/// The inputs of one end of a connection.
struct Joint {
  UniqueFd peer;  ///< the proven, non-blocking socket from the door; none where there is no door
  std::vector<UniqueFd> more =
      {};  ///< further sockets of the same connection, in the same order on both ends
  ConnectionShape shape;
  std::uint32_t channel = 0;        ///< connections spread over several cards by it
  std::string_view address = {};    ///< the other rank's on this transport
  TransportState* state = nullptr;  ///< what listen() has opened here
  Patience patience;                ///< for all waits until the end is there
  LentOffers lent = {};             ///< where takes_lent_slots; of Simple
};

/// One row: how slots travel by one medium.
struct Transport {
  std::string_view name = {};   ///< as users write it
  std::string_view joins = {};  ///< which ranks, in their words: "ranks of one host"
  Door door = Door::Network;
  std::string_view nccl_network = {};  ///< `Socket` of NCCL's `via NET/Socket`; empty: no network

  // What the ends are like.
  bool waits_for_receiver = false;  ///< make_send() waits for what make_recv() of the peer says
  bool needs_progress = false;  ///< no thread nor memory moves its data: waiters call progress()
  /// Looks for a slot before a waiting rank first yields its core; 0: as between ranks of a host. Fewer where a look
  /// costs more, or where the kernel may want the core to move the bytes.
  int spins = 0;
  bool takes_lent_slots = false;  ///< Joint::lent
  bool takes_host_memory = true;
  bool takes_device_memory = false;

  // What suits it.
  /// Up to which size calls go by LL rather than LL128 where no rule of a host table decides; 0: never.
  Bytes ll_up_to{0};
  Bytes longest_slot{128 << 10};  ///< longer slots are no faster
  /// Between hosts, where a line's delay and rate determine how much has to be in flight; 0: as within one.
  Bytes slot_between_hosts{0};
  /// The two connections between two ranks that are made together may share a socket if their slots are no
  /// longer than this, or of LL or LL128; 0: each has its own. Their ends then wait for nothing when made.
  Bytes shares_socket_up_to{0};

  /// Sockets from the door that a connection takes; null: one.  receiver: its rank's address on the transport
  std::size_t (*sockets)(std::string_view receiver, ConnectionShape shape) = nullptr;

  /// Whether it joins two ranks that both have it open.
  bool (*reaches)(const Whereabouts& from, const Whereabouts& to) = nullptr;

  /// Opens its resources on this rank. Null: it needs only the door.
  /// errors  Unsupported: the rank lacks what the transport needs (no such card), and is not reachable by it
  Result<std::unique_ptr<TransportState>> (*listen)(const LocalSite& here) = nullptr;

  /// The receiving end. It is made first: it may send to the peer, but waits for no message of it. (All ranks
  /// make receiving ends before sending ones. peek() reads the messages that come later.)
  /// errors  PeerGone, Timeout, Aborted; System, InvalidArgument, Corrupt: of the transport
  Result<std::unique_ptr<RecvEnd>> (*make_recv)(Joint joint) = nullptr;

  /// The sending end. It may wait for a message of the peer's make_recv().
  /// errors  as make_recv()
  Result<std::unique_ptr<SendEnd>> (*make_send)(Joint joint) = nullptr;

  [[nodiscard]] bool shares_sockets() const { return shares_socket_up_to.value != 0; }
  /// Whether it joins a rank to itself: it cannot be requested.
  [[nodiscard]] bool is_inner() const { return door == Door::None; }
};

/// All transports, the fastest first. A row is identified by its address.
std::span<const Transport> transports();

/// The fastest transport between different ranks of a host.
const Transport& usual_transport();

/// Those that users may ask for: all but what joins a rank to itself.
std::vector<std::string_view> transport_names();

/// errors  InvalidArgument: none of transport_names(); the nearest is named
Result<const Transport*> parse_transport(std::string_view name);

/// The first of `table` that both ranks have open, that joins them and takes such memory; null: none.
const Transport* choose_transport(std::span<const Transport> table, const Whereabouts& from,
                                  const Whereabouts& to, MemoryKind memory = MemoryKind::Host);

}  // namespace ringside
