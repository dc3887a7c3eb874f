#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "trace/replay/replay.h"

namespace ringside {

/// The event that a step's end waited for.
enum class PathCause : std::uint8_t {
  Begin,    ///< nothing: it is the first
  Own,      ///< its rank's step before it
  Message,  ///< the chunk that `peer` sent
  Link,     ///< the link to `peer` still carried the previous chunk
  Room,     ///< `peer` had not given a slot back yet
};

/// One step of a critical path: the longest chain of steps of which each waited for the one before.
struct PathLeg {
  EventId step = kNoEvent;
  PathCause cause = PathCause::Begin;
  std::int32_t peer = -1;  ///< of Message, Link and Room
  TimeRange time;          ///< from the end of what it waited for to its own end
};

/// The least time that a chunk needs on its path. Zero where it is unknown: then steps wait for steps alone.
struct ChunkTimes {
  Nanoseconds crossing{0};  ///< of its bytes: so long the next one waits
  Nanoseconds latency{0};   ///< after that, until it is there
};

/// What a trace does not say of a call.
struct PathKnowledge {
  /// sent  a step that sends to that rank; empty: times are unknown
  std::function<ChunkTimes(const TraceEvent& sent, std::int32_t to)> chunk = {};
  int room = 0;  ///< chunks that a connection holds; 0: unknown
};

/// The chain that ends with the call's last step, from its first step on. Of all that a step needed, it waited for what
/// was there last.
///
/// sequence  which call of the communicator
/// returns   empty where the trace has no primitives of it
/// takes     O(events of the communicator), and O(log events) a leg
std::vector<PathLeg> critical_path(const Replay& replay, std::uint32_t communicator,
                                   std::uint32_t sequence, const PathKnowledge& knowledge = {});

}  // namespace ringside
