#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "trace/replay/replay.h"

namespace ringside {

/// The cause that a step's end waited for.
enum class PathCause : std::uint8_t {
  Begin,    ///< no cause: the first step
  Own,      ///< the previous step of its rank
  Message,  ///< the chunk that `peer` sent
  Link,     ///< the link to `peer` still carried the previous chunk
  Room,     ///< `peer` had not released a slot
};

/// One step of a critical path: the longest chain of steps in which each waited for the previous
/// one.
struct PathLeg {
  EventId step = kNoEvent;
  PathCause cause = PathCause::Begin;
  std::int32_t peer = -1;  ///< only for Message, Link and Room; else -1
  TimeRange time;          ///< from the end of the awaited step to its own end
};

/// The minimum time of a chunk on its path. Zero: unknown; then steps only wait for steps.
struct ChunkTimes {
  Nanoseconds crossing{0};  ///< time of its bytes on the link: the next chunk waits for it
  Nanoseconds latency{0};   ///< time from then until its arrival
};

/// Data about a call that a trace does not contain.
struct PathKnowledge {
  /// Returns the times of a chunk.  sent  a step that sends to rank `to`.  Empty function: times
  /// are unknown
  std::function<ChunkTimes(const TraceEvent& sent, std::int32_t to)> chunk = {};
  int room = 0;  ///< number of chunks that a connection can hold; 0: unknown
};

/// Returns the critical path of a call, from its first step to its last one. A step waited for the
/// latest of its inputs.
///
/// sequence  number of the call in the communicator
/// returns   empty if the trace has no primitives of the call
/// takes     O(events of the communicator); per leg O(log events), and with `knowledge` the steps back to the
///           rank's previous sends to the same peer
std::vector<PathLeg> critical_path(const Replay& replay, std::uint32_t communicator,
                                   std::uint32_t sequence, const PathKnowledge& knowledge = {});

}  // namespace ringside
