#pragma once

#include "base/result.h"
#include "engine/transport/socket/patience.h"

/// Waiting and error handling for socket.cpp and other code that makes system calls on sockets.
namespace ringside {

/// Returns whether a call's errno means that it would have had to wait.
bool would_wait(int error_number);

/// Waits until the socket is ready.
/// events  of poll(2)
/// errors  Timeout, Aborted
Status wait_for_socket(int socket, short events, const Patience& patience);

/// Converts the errno of a failed call into an Error.
/// returns  PeerGone, Unreachable or System
Error stream_error(int socket, int error_number);

}  // namespace ringside
