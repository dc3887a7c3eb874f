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

/// The messages among ranks and between ranks and root, and their encoding: numbers are little-endian; a text is its
/// length in two bytes, then its bytes. An Error's message and help are cut after 3,000 bytes each. Every parse function
/// accepts arbitrary bytes.
/// errors  Corrupt: not a message of that type, or bytes after its end
namespace ringside {

inline constexpr std::size_t kMessageLimit = 8192;  ///< longest frame of a message, bytes
inline constexpr int kMostRanks =
    1 << 20;  ///< of a job; bounds what a peer's number can make the root allocate

/// rank -> root, as the hello of its connection.
struct JoinMessage {
  int rank = 0;
  int nranks = 0;
  SocketAddress listen;  ///< address for its ring predecessor
  std::string who;       ///< "host:pid", for messages; the first 64 bytes are sent
  Secret ticket = {};    ///< on rank 0: BootstrapRoot::ticket(), if RootOptions::wants_ticket
};
std::vector<std::byte> to_bytes(const JoinMessage& message);
/// errors  Corrupt: malformed; this also holds for the other parsers of this header
Result<JoinMessage> parse_join(std::span<const std::byte> bytes);

/// root -> rank. Also rank -> root, once: Linked when the rank is connected to both neighbours, or Failure.
struct RootMessage {
  enum class Kind : std::uint8_t {
    Waiting = 1,    ///< keepalive: not all ranks have joined yet
    Successor = 2,  ///< `successor` is the address of the next rank of the ring
    Everybody = 3,  ///< all ranks have joined
    Failure = 4,    ///< the job fails because of `error`. All ranks get it, and rank 0 reports it.
    Linked = 6,     ///< all ranks are connected to their neighbours
    Refused = 5,    ///< this rank is rejected because of `error`. Only this rank gets it.
    Admitted = 7,   ///< first message to an admitted rank; it uses `secret` from now on
  };
  Kind kind = Kind::Waiting;
  SocketAddress successor = {};  ///< for Successor
  Error error = {};              ///< for Failure and Refused
  Secret secret = {};            ///< for Admitted: 128 random bits that only admitted ranks know
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
  std::uint32_t socket = 0;  ///< number of the socket within the connection
};
std::vector<std::byte> to_bytes(const ConnectionHello& message);
Result<ConnectionHello> parse_connection_hello(std::span<const std::byte> bytes);

/// rank -> all ranks, before they connect.
struct PeerInfo {
  Whereabouts where;  ///< its rank is not sent: it is the message's index in the all-gather
  /// Bitmap of the cores on which the rank may run, as cpu_set_t; only core 0 if the kernel knows more than 1,024 cores
  std::array<std::uint64_t, 16> cores{};
  std::uint64_t cache = 0;  ///< size of a core's L2 cache, bytes
};
std::vector<std::byte> to_bytes(const PeerInfo& message);
Result<PeerInfo> parse_peer_info(std::span<const std::byte> bytes);

/// rank -> both neighbours, on the watch's ring.
struct WatchMessage {
  enum class Kind : std::uint8_t {
    Goodbye = 1,  ///< an orderly end: the closing of this connection is no failure
    Abort = 2,    ///< the job is broken; passed on in both directions
    /// The sender's calls from `number` on are `call`; only to neighbours on other hosts
    Call = 3,
    Dump = 4,     ///< write your dump; passed on in both directions
    Present = 5,  ///< the origin is alive; passed on in both directions
  };
  Kind kind = Kind::Goodbye;
  Rank origin = kNoRank;     ///< for Abort and Present: the rank that reports it
  Rank dead = kNoRank;       ///< for Abort: the rank that died, or kNoRank
  Error error = {};          ///< for Abort
  std::uint64_t number = 0;  ///< for Call: number of the first call with this signature
  CallSignature call = {};   ///< for Call
};
std::vector<std::byte> to_bytes(const WatchMessage& message);
Result<WatchMessage> parse_watch(std::span<const std::byte> bytes);

}  // namespace ringside
