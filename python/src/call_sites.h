#pragma once

#include <ringside/call_site.h>

namespace ringside::pytorch {

/// Returns the lines of Python that the calling thread is in. Equal stacks share one object, which is never freed.
/// Only the 16 innermost frames are in it, without those of the program that runs the script.
/// returns  null: the process writes no dumps, the thread runs no Python, or 100000 other stacks are known
/// Threads  any, with or without the interpreter's lock
const CallSite* current_site();

}  // namespace ringside::pytorch
