#pragma once

#include "base/result.h"
#include "engine/transport/socket/patience.h"

/// What those who call a socket themselves have in common with socket.cpp: how it is waited for, and what its errors mean.
namespace ringside {

/// Whether the call would have had to wait, by its errno.
bool would_wait(int error_number);

/// events  poll(2)'s
/// errors  Timeout, Aborted
Status wait_for_socket(int socket, short events, const Patience& patience);

/// returns  PeerGone, Unreachable or System, by the errno of a call that has failed
Error stream_error(int socket, int error_number);

}  // namespace ringside
