#pragma once

#include <memory>

#include "engine/transport/end.h"
#include "engine/transport/transport.h"

/// The connection from a rank to itself: 8 slots of its own memory.
///
/// Threads  both ends are one thread's
namespace ringside {

/// Keeps the slots between the making of the one end and of the other.
Result<std::unique_ptr<TransportState>> open_loop(const LocalSite& here);

/// Makes the slots, too.  shape  slot size: at least 1
Result<std::unique_ptr<RecvEnd>> make_loop_recv_end(Joint joint);

/// The other end of what make_loop_recv_end() made last.
Result<std::unique_ptr<SendEnd>> make_loop_send_end(Joint joint);

}  // namespace ringside
