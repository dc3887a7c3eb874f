#pragma once

#include <memory>

#include "engine/transport/end.h"
#include "engine/transport/transport.h"

/// Connections over TCP sockets: one each, or one for the two between two ranks, each of which then has its own
/// descriptor of it. The sender says first what it sends (preamble.h). Then a slot
/// travels as four bytes of length, little-endian, and its bytes: the data in Simple, whole lines with
/// their flags in LL and LL128 (wire_lines.h). There is no thread: the socket moves whenever an end is
/// asked for something or progress() is called. 8 slots lie on either side, and what is between them is
/// the kernel's. Where NCCL_SOCKET_NTHREADS or NCCL_NSOCKS_PERTHREAD ask for it, long slots go over several sockets
/// (striped.h).
namespace ringside {

/// `joint.peer` is an authenticated, non-blocking TCP socket on which nothing else is sent in this direction from
/// now on. Waits for nothing.
/// shape   slot size: data that one slot carries, whatever the protocol adds
Result<std::unique_ptr<SendEnd>> make_tcp_send_end(Joint joint);

/// errors later, from peek()  InvalidArgument: the peer sends another protocol or slot size.  Corrupt: it
/// announced a slot longer than slot_size, or an empty one, or a line carries another step's flag.
Result<std::unique_ptr<RecvEnd>> make_tcp_recv_end(Joint joint);

}  // namespace ringside
