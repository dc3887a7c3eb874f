#pragma once

#include <chrono>
#include <string>

#include "base/deadline.h"
#include "harness/attach/place.h"

namespace ringside::attach {

/// Time limit for the answer of one process. Chosen: a third of gather()'s usual time, so that a process without an answer
/// leaves time for others.
inline constexpr auto kForOne = std::chrono::seconds(4);

/// What PyTorch's control plane of one process answered.
struct ControlAnswer {
  std::string body;         ///< empty: no handler gave one
  std::string said;         ///< its size, or why there is none
  bool is_reached = false;  ///< the process answered, if only that it has no such handler
};

/// Requests the Flight Recorder dump of a process in JSON, from the first of its handlers that has one. The dump gets the
/// wall time of the request as `asked_at_ns`. On a port that several processes share, a request without an answer is
/// repeated on up to two other connections.
/// deadline  for all requests together; each has kForOne, or 2.5 s on a shared port
///
/// Threads  any thread may call it
ControlAnswer ask_for_dump(const Place& place, const Deadline& deadline);

/// Requests the Python stacks of a process's threads in the same way.
///
/// Threads  any thread may call it
ControlAnswer ask_for_stack(const Place& place, const Deadline& deadline);

}  // namespace ringside::attach
