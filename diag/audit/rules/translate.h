#pragma once

#include <initializer_list>

#include "diag/audit/findings.h"
#include "diag/logparse/message.h"

namespace ringside::audit {

/// Adds a finding for what hangdetect says of lines of these messages: the row of its kind, its ranks, reasons and next
/// step. Of several explanations the surest of each row counts.
/// returns  whether it says something that is sure enough to be told
bool translate_hang(std::initializer_list<logs::MessageId> ids, const JobFacts& facts,
                    Findings& findings);

}  // namespace ringside::audit
