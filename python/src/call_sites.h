#pragma once

#include <ringside/call_site.h>

namespace ringside::pytorch {

/// Returns the lines of Python that the calling thread is in. Equal stacks share one object, which is never freed.
/// returns  null: the process writes no dumps, or the thread runs no Python
/// Threads  any, without the interpreter's lock
const CallSite* current_site();

}  // namespace ringside::pytorch
