#pragma once

#include <string>

#include "diag/hangdetect/examine.h"

namespace ringside::hang {

/// Returns a line for each frame, innermost first. Of the frames of installed packages only the first are shown, so that
/// those of the job's own program are.
std::string stack_text(const Stack& stack);

/// Returns where the stack of the first culprit leaves that of most other ranks, followed from the outermost frame on:
/// a line for each side.
/// returns  empty: there are no stacks of both sides, or they do not differ
std::string parting_text(const Examination& all);

}  // namespace ringside::hang
