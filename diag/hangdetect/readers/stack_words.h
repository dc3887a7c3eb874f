#pragma once

#include "diag/hangdetect/readers/process_stacks.h"

namespace ringside::hang {

/// Says what a stack does, from its frames: sets `doing`, `telling` and `op`.
///
/// The innermost frame that a rule knows decides, so that a save that waits in a collective waits, and a collective's
/// own helper threads do not count as locks. Frames of queues and conditions say nothing by themselves.
void classify(ProcessStack& stack);

}  // namespace ringside::hang
