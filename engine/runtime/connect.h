#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/deadline.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/vocabulary.h"
#include "engine/channels/channels.h"
#include "engine/transport/end.h"

namespace ringside {

class Bootstrap;
class Failure;

enum class TransportKind : std::uint8_t { Shm = 0, Tcp = 1 };
const char* to_string(TransportKind kind);

/// One rank's two connections on one channel. Null on both sides in a ring of one.
struct ChannelEnds {
  std::unique_ptr<SendEnd> send;
  std::unique_ptr<RecvEnd> recv;
  Rank next = kNoRank;
  Rank previous = kNoRank;
  TransportKind kind = TransportKind::Shm;  ///< of `send`
};

/// All rings of one rank.
struct ConnectedRings {
  std::vector<ChannelEnds> channels;  ///< [channel]
  std::string transport;  ///< over all ranks: "shm", "tcp", "shm+tcp", or "none" in a ring of one
};

/// Connects this rank to its neighbours on every channel's ring: shm where the two share a host, tcp
/// elsewhere, or what `transport` insists on. Every rank calls it at the same time.
///
/// slot_size  data that one slot carries
/// protocol   how every connection frames its slots. A communicator whose choices differ in it connects
///            once a protocol.
/// failure    once it has happened, waiting for others ends early
/// errors     Aborted: it has.  Timeout, PeerGone, System: name the peer and the channel.  Unsupported: shm asked for
///          between two hosts.
Result<ConnectedRings> connect_rings(Bootstrap& bootstrap, const Channels& channels,
                                     std::optional<TransportKind> transport, Bytes slot_size,
                                     Deadline deadline, const Failure& failure,
                                     Protocol protocol = Protocol::Simple);

}  // namespace ringside
