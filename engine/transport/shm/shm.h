#pragma once

#include <memory>

#include "engine/transport/end.h"
#include "engine/transport/transport.h"

/// Connections between two processes of one host through memory that both map.
///
/// The receiver makes the memory (a memfd, sealed against shrinking) and passes it to the sender over their Unix
/// socket. Neither has a name in a file system, so a crash leaves no files. The socket stays open for the connection's
/// life, so that an end notices the other's death.
namespace ringside {

/// Makes the receiving end, and sends the memory's descriptor to the peer. `joint.peer` is an authenticated Unix
/// socket.
/// shape   slot size (bytes of data, without the protocol's flags): a multiple of 64
/// errors  System: no memory or descriptors.  PeerGone, Timeout, Aborted: the peer did not receive it.
Result<std::unique_ptr<RecvEnd>> make_shm_recv_end(Joint joint);

/// Makes the sending end. It waits for the memory's descriptor from the peer.
/// errors  PeerGone, Timeout, Aborted, System; InvalidArgument: the peer has another protocol or slot size;
///         Corrupt: the received file is not memory of make_shm_recv_end()
Result<std::unique_ptr<SendEnd>> make_shm_send_end(Joint joint);

}  // namespace ringside
