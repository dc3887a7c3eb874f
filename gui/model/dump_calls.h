#pragma once

#include <cstddef>
#include <vector>

#include "base/result.h"
#include "diag/hangdetect/model/job.h"

namespace ringside::gui {

/// The calls of Flight Recorder dumps as a trace without steps: from when a rank made a call until it made its next one in
/// the same group; what had not ended lasts to the end of all. Groups are communicators in the order of their numbers.
/// Times are each host's own; a call of a rank is never shown before the one it made earlier.
Result<std::vector<std::byte>> trace_of(const hang::Job& job);

}  // namespace ringside::gui
