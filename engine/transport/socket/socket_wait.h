#pragma once

#include "base/result.h"
#include "engine/transport/socket/patience.h"

/// Shared by socket.cpp and other code that calls a socket itself: how it waits, and what the errors mean.
namespace ringside {

/// Whether the call would have had to wait, by its errno.
bool would_wait(int error_number);

/// events  poll(2)'s
/// errors  Timeout, Aborted
Status wait_for_socket(int socket, short events, const Patience& patience);

/// returns  PeerGone, Unreachable or System, by the errno of a call that has failed
Error stream_error(int socket, int error_number);

}  // namespace ringside
