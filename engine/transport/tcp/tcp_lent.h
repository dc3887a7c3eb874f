#pragma once

#include <memory>

#include "base/fd.h"
#include "engine/transport/end.h"
#include "engine/transport/transport.h"

/// TCP ends whose slots are in a caller's buffer (LentSlots): the kernel copies directly to and from that buffer.
namespace ringside {

/// Chooses the first offered buffer (Joint::lent) that the CPU can access.
/// returns  a null region if there is none, or if the protocol is LL or LL128: those ends pack lines in their own
///          memory
LentSlots tcp_lent_of(const Joint& joint);

/// Returns the description of the buffer for TransportEnd::lent(); a null region gives an empty LentUse.
LentUse tcp_use_of(const LentSlots& lent);

/// Makes a receiving end on one socket whose slots are in `lent`. It reads at most the current slot and the next slot's
/// length in one call, because later bytes belong into other slots. It owns the socket.
/// shape   protocol Simple; `lent` has room for kSlots slots (check_room)
/// errors  those of its methods, as for make_tcp_recv_end(); making it never fails
std::unique_ptr<RecvEnd> make_tcp_lent_recv_end(UniqueFd peer, ConnectionShape shape,
                                                LentSlots lent);

}  // namespace ringside
