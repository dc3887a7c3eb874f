#pragma once

#include <optional>

#include "diag/facts/facts.h"
#include "diag/hangdetect/verdict/verdict.h"

namespace ringside::hang {

/// A job that made progress after the last line of trouble, in every file that has such a line: a slow start, a wait
/// that ended, a connection that succeeded in the end.
///
/// rows     statements of the catalogue's rows
/// stated   statements of the readers of reports and tables
/// returns  nothing: there was no trouble, no progress follows it, or a process ended
std::optional<Explanation> went_on(const facts::Facts& rows, const facts::Facts& stated);

}  // namespace ringside::hang
