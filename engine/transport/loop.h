#pragma once

#include <memory>

#include "engine/transport/end.h"

/// The connection from a rank to itself: 8 slots of its own memory.
namespace ringside {

struct LoopEnds {
  std::unique_ptr<SendEnd> send;
  std::unique_ptr<RecvEnd> recv;
};

/// Threads  both ends are one thread's
/// shape    slot_size: at least 1
LoopEnds make_loop_ends(Bytes slot_size);

}  // namespace ringside
