#pragma once

#include "diag/facts/facts.h"
#include "diag/hangdetect/readers/log_facts.h"

namespace ringside::hang {

/// The statements of logs as facts, until the catalogue's rows emit facts themselves.
facts::Facts facts_of(const LogFacts& logs);

}  // namespace ringside::hang
