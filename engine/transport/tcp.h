#pragma once

#include <memory>

#include "base/fd.h"
#include "engine/transport/end.h"

/// Connections over one TCP socket each. A slot travels as four bytes of length, little-endian, and its
/// bytes. There is no thread: the socket moves whenever an end is asked for something or progress() is
/// called. 8 slots lie on either side, and what is between them is the kernel's.
namespace ringside {

/// `peer` is an authenticated, non-blocking TCP socket on which nothing else is sent from now on.
std::unique_ptr<SendEnd> make_tcp_send_end(UniqueFd peer, Bytes slot_size);

/// errors later, from peek()  Corrupt: the peer announced a slot longer than slot_size, or an empty one
std::unique_ptr<RecvEnd> make_tcp_recv_end(UniqueFd peer, Bytes slot_size);

}  // namespace ringside
