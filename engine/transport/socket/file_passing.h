#pragma once

#include "base/fd.h"
#include "base/result.h"
#include "engine/transport/socket/patience.h"

/// Passes open files (sealed memory, GPU memory, sockets) between processes of a host by SCM_RIGHTS, over a connected
/// Unix socket whose ends have authenticated each other (handshake.h). Each message carries one file.
namespace ringside {

/// Sends an open file, which stays open here.
/// errors  Timeout, Aborted, PeerGone, System
Status send_fd(int socket, int fd, const Patience& patience);

/// Receives the file that send_fd() sent, with close-on-exec set. If it fails, all files of the message are closed.
/// errors  Timeout, Aborted, PeerGone; Corrupt: the message is not from send_fd(), or carries no file or several;
///         System: this process has reached its limit of open files
Result<UniqueFd> recv_fd(int socket, const Patience& patience);

}  // namespace ringside
