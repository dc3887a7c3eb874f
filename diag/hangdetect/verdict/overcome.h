#pragma once

#include <optional>

#include "diag/facts/facts.h"
#include "diag/hangdetect/verdict/verdict.h"

namespace ringside::hang {

/// A job that made progress behind the last line of trouble, in every file that has such a line: a slow start, a wait that
/// ended, a connection that was made in the end.
///
/// rows     what rows of the catalogue state
/// stated   what the readers of reports and tables state
/// returns  nothing: there was no trouble, it is the last that is said, or a process ended
std::optional<Explanation> went_on(const facts::Facts& rows, const facts::Facts& stated);

}  // namespace ringside::hang
