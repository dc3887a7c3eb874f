#pragma once

#include <cstdint>

#include "base/words.h"
#include "tests/trace/trace_files.h"

namespace ringside {

/// An all-reduce of 2 ranks on one channel, 1000 bytes, chunks of 500; rank 1 comes 40 us late.
///
///     us       0        40   50            70   80       100
///     rank 0   [ send ][     recv_reduce_copy_send ..70] [ recv ..100]      send 0..10
///     rank 1            [ send 40..50 ][ recv_reduce_copy_send 50..80 ][ recv 80..90 ]
inline std::vector<TraceEvent> late_all_reduce() {
  const auto primitive = [](std::int32_t rank, std::uint32_t step, Primitive what,
                            std::int64_t begin_us, std::int64_t end_us, std::uint64_t offset) {
    TraceEvent event;
    event.rank = rank;
    event.step = step;
    event.primitive = what;
    event.begin_ns = begin_us * 1000;
    event.end_ns = end_us * 1000;
    event.offset = offset;
    event.bytes = 500;
    const PrimitiveParts parts = parts_of(what);
    event.recv_peer = parts.receives ? 1 - rank : -1;
    event.send_peer = parts.sends ? 1 - rank : -1;
    return event;
  };
  const auto whole = [](std::int32_t rank, std::int64_t begin_us, std::int64_t end_us) {
    TraceEvent event;
    event.kind = EventKind::Collective;
    event.rank = rank;
    event.begin_ns = begin_us * 1000;
    event.end_ns = end_us * 1000;
    event.bytes = 1000;
    return event;
  };
  return {
      primitive(0, 0, Primitive::Send, 0, 10, 500),
      primitive(0, 1, Primitive::RecvReduceCopySend, 10, 70, 0),
      primitive(0, 2, Primitive::Recv, 70, 100, 500),
      whole(0, 0, 100),
      primitive(1, 0, Primitive::Send, 40, 50, 0),
      primitive(1, 1, Primitive::RecvReduceCopySend, 50, 80, 500),
      primitive(1, 2, Primitive::Recv, 80, 90, 0),
      whole(1, 40, 90),
  };
}

}  // namespace ringside
