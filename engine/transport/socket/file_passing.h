#pragma once

#include "base/fd.h"
#include "base/result.h"
#include "engine/transport/socket/patience.h"

/// How an open file gets from one process of a host to another (SCM_RIGHTS): sealed memory, a GPU's memory, the socket of
/// another process. Over a connected Unix socket whose ends trust each other (handshake.h); one file a message.
namespace ringside {

/// Sends an open file, which stays open here.
/// errors  Timeout, Aborted, PeerGone, System
Status send_fd(int socket, int fd, const Patience& patience);

/// The file that send_fd() sent, close-on-exec. Whatever else comes with the message is closed.
/// errors  Timeout, Aborted, PeerGone; Corrupt: the message is not one of send_fd()'s, or carried no file or several;
///         System: this process has as many files open as it may
Result<UniqueFd> recv_fd(int socket, const Patience& patience);

}  // namespace ringside
