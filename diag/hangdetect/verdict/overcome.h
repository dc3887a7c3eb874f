#pragma once

#include <optional>

#include "diag/facts/facts.h"
#include "diag/hangdetect/verdict/verdict.h"

namespace ringside::hang {

/// Returns the hypothesis that the job recovered: in every file with a line that reports a problem, progress follows
/// the last such line. Examples are a slow start, a wait that ended and a connection that succeeded after retries.
///
/// rows     facts from the catalogue's rows
/// stated   facts from the readers of reports and tables
/// returns  nothing if no line reports a problem, no progress follows, or a process ended
std::optional<Explanation> went_on(const facts::Facts& rows, const facts::Facts& stated);

}  // namespace ringside::hang
