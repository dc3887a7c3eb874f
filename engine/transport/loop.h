#pragma once

#include <memory>

#include "engine/transport/end.h"
#include "engine/transport/transport.h"

/// The connection from a rank to itself: 8 slots of its own memory.
///
/// Threads  one thread uses both ends
namespace ringside {

/// Opens the state that holds the slots after one end is made until the other end is.
/// errors  none
Result<std::unique_ptr<TransportState>> open_loop(const LocalSite& here);

/// Makes the receiving end and the slots.  shape  slot size: at least 1
/// errors  none
Result<std::unique_ptr<RecvEnd>> make_loop_recv_end(Joint joint);

/// Makes the sending end for the latest make_loop_recv_end().
/// errors  none
Result<std::unique_ptr<SendEnd>> make_loop_send_end(Joint joint);

}  // namespace ringside
