#pragma once

#include <chrono>
#include <string>

#include "base/deadline.h"
#include "harness/attach/place.h"

namespace ringside::attach {

/// How long one process may take for an answer.
inline constexpr auto kForOne = std::chrono::seconds(4);

/// What PyTorch's control plane of one process answered.
struct ControlAnswer {
  std::string body;         ///< empty: no handler gave one
  std::string said;         ///< how large it is, or why there is none
  bool is_reached = false;  ///< the process answered at all
};

/// Asks a process for its Flight Recorder dump in JSON. The answer carries the time of the request as `asked_at_ns`.
///
/// Threads  any thread may call it
ControlAnswer ask_for_dump(const Place& place, const Deadline& deadline);

/// Asks a process for the Python stacks of its threads.
///
/// Threads  any thread may call it
ControlAnswer ask_for_stack(const Place& place, const Deadline& deadline);

}  // namespace ringside::attach
