#pragma once

#include <string>

#include "diag/hangdetect/examine.h"

namespace ringside::hang {

/// Returns a line for each of the first twelve frames, innermost first. If the stack has frames of the job's own program,
/// only three of installed packages are shown before them, and the others are counted.
std::string stack_text(const Stack& stack);

/// Returns where the stacks of the culprits and of most other ranks part, followed from the outermost frame on: a line for
/// each side, and for different sizes a note that another branch is as likely.
/// returns  empty: there are no stacks of both sides, or they do not differ
std::string parting_text(const Examination& all);

}  // namespace ringside::hang
