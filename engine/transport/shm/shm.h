#pragma once

#include <memory>

#include "engine/transport/end.h"
#include "engine/transport/transport.h"

/// Connections between two processes of one host, through memory that both map.
///
/// The receiver makes the memory (a memfd, sealed against shrinking) and hands it to the sender over the
/// Unix socket that joined them. Neither has a name in any file system: whatever dies, nothing is
/// left behind. The socket stays open for the connection's life, so that an end sees the other's death.
namespace ringside {

/// The receiving end; sends the memory's descriptor to the peer. `joint.peer` is an authenticated Unix socket.
/// shape   slot size: a multiple of 64 bytes; data that one slot carries, whatever the protocol adds
/// errors  System: no memory or descriptors.  PeerGone, Timeout, Aborted: the peer did not take it.
Result<std::unique_ptr<RecvEnd>> make_shm_recv_end(Joint joint);

/// The sending end; waits for the memory's descriptor from the peer.
/// errors  PeerGone, Timeout, Aborted, System; InvalidArgument: the peer has another protocol or slot size;
///         Corrupt: what came is no such memory
Result<std::unique_ptr<SendEnd>> make_shm_send_end(Joint joint);

}  // namespace ringside
