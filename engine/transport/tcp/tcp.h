#pragma once

#include <memory>

#include "engine/transport/end.h"
#include "engine/transport/transport.h"

/// Connections over TCP sockets. Each connection has a socket, or the two connections between two ranks share one, with
/// a descriptor each. The sender first sends its preamble (preamble.h). Each slot is then sent as four bytes of length,
/// little-endian, and its bytes: the data for Simple, whole lines with flags for LL and LL128 (wire_lines.h). No thread
/// moves the data: every call of an end and progress() do. Each end has 8 slots; the kernel buffers the data in
/// between. With NCCL_SOCKET_NTHREADS or NCCL_NSOCKS_PERTHREAD, long slots use several sockets (striped.h).
namespace ringside {

/// Makes the sending end, without waiting. `joint.peer` is an authenticated, non-blocking TCP socket; only this end may
/// send on it from now on.
/// shape   slot size: bytes of data, without the protocol's flags
Result<std::unique_ptr<SendEnd>> make_tcp_send_end(Joint joint);

/// Makes the receiving end, without waiting.
/// errors  later, from peek(): InvalidArgument: the peer sends another protocol or slot size.  Corrupt: it announced a
///         slot longer than slot_size, or an empty one, or a line carries another step's flag.
Result<std::unique_ptr<RecvEnd>> make_tcp_recv_end(Joint joint);

}  // namespace ringside
