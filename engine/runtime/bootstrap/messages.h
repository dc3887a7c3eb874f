#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "engine/runtime/calls/call_signature.h"
#include "engine/transport/socket/address.h"
#include "engine/transport/socket/handshake.h"
#include "engine/transport/transport.h"

/// The messages between ranks and root, and their encoding: numbers are little-endian,
/// a text is its length in two bytes and then its bytes. Every parse function takes any bytes.
/// errors  Corrupt: not such a message, or bytes behind its end
namespace ringside {

inline constexpr std::size_t kMessageLimit = 8192;  ///< bytes of a frame that holds one of these
inline constexpr int kMostRanks = 1 << 20;          ///< of a job

/// rank -> root, as the hello of its connection.
struct JoinMessage {
  int rank = 0;
  int nranks = 0;
  SocketAddress listen;  ///< where its ring predecessor reaches it
  std::string who;       ///< "host:pid", for people; the first 64 bytes are sent
  Secret ticket = {};    ///< of rank 0: BootstrapRoot::ticket(), where the root wants one
};
std::vector<std::byte> to_bytes(const JoinMessage& message);
Result<JoinMessage> parse_join(std::span<const std::byte> bytes);

/// root -> rank; and rank -> root, once, when it has its links: Linked, or Failure.
struct RootMessage {
  enum class Kind : std::uint8_t {
    Waiting = 1,    ///< not all are here yet; the root lives
    Successor = 2,  ///< where the next rank of the ring listens
    Everybody = 3,  ///< all have come
    Failure = 4,    ///< the job fails; `error` says why. All get it, rank 0 reports it.
    Linked = 6,     ///< all have their links
    Refused = 5,    ///< this rank is not admitted; `error` says why. Only this rank gets it.
    Admitted =
        7,  ///< the first message to a rank that was not refused; `secret` is its own from now on
  };
  Kind kind = Kind::Waiting;
  SocketAddress successor = {};  ///< of Successor
  Error error = {};              ///< of Failure and Refused
  Secret secret = {};  ///< of Admitted: 128 random bits that the admitted ranks alone know
};
std::vector<std::byte> to_bytes(const RootMessage& message);
Result<RootMessage> parse_root(std::span<const std::byte> bytes);

/// rank -> the next rank, as the hello of a ring connection.
struct RingHello {
  enum class Purpose : std::uint8_t { Bootstrap = 1, Watch = 2 };
  Purpose purpose = Purpose::Bootstrap;
  Rank from{0};
};
std::vector<std::byte> to_bytes(const RingHello& message);
Result<RingHello> parse_ring_hello(std::span<const std::byte> bytes);

/// rank -> rank, as the hello of a connection that carries data.
struct ConnectionHello {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint32_t channel = 0;
  std::uint32_t index = 0;
  Protocol protocol = Protocol::Simple;
  std::uint64_t slot_size = 0;
  std::uint32_t socket = 0;  ///< which of the connection's
};
std::vector<std::byte> to_bytes(const ConnectionHello& message);
Result<ConnectionHello> parse_connection_hello(std::span<const std::byte> bytes);

/// rank -> all ranks, before they connect.
struct PeerInfo {
  Whereabouts where;  ///< but for its rank, which is its place among the others'
  std::array<std::uint64_t, 16> cores{};  ///< that the rank may run on, a bit each
  std::uint64_t cache = 0;                ///< bytes of a core's second level
};
std::vector<std::byte> to_bytes(const PeerInfo& message);
Result<PeerInfo> parse_peer_info(std::span<const std::byte> bytes);

/// rank -> both neighbours, on the watch's ring.
struct WatchMessage {
  enum class Kind : std::uint8_t {
    Goodbye = 1,  ///< an orderly end: the closing of this connection is no failure
    Abort = 2,    ///< the job is broken; passed on in both directions
    Call = 3,     ///< the sender's calls from some call on; for its neighbours on other hosts
    Dump = 4,     ///< write your dump; passed on in both directions
    Present = 5,  ///< the origin lives; passed on in both directions
  };
  Kind kind = Kind::Goodbye;
  Rank origin = kNoRank;     ///< of Abort and Present: the rank that reports it
  Rank dead = kNoRank;       ///< of Abort: the rank that died, or kNoRank
  Error error = {};          ///< of Abort
  std::uint64_t number = 0;  ///< of Call: the first such call
  CallSignature call = {};   ///< of Call
};
std::vector<std::byte> to_bytes(const WatchMessage& message);
Result<WatchMessage> parse_watch(std::span<const std::byte> bytes);

}  // namespace ringside
