#pragma once

#include "diag/facts/facts.h"
#include "diag/hangdetect/readers/log_facts.h"

namespace ringside::hang {

/// Converts the statements of the log readers to facts. The catalogue's rows emit theirs directly.
facts::Facts facts_of(const LogFacts& logs);

}  // namespace ringside::hang
