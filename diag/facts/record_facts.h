#pragma once

#include <vector>

#include "diag/facts/schema.h"
#include "diag/logparse/record.h"

namespace ringside::facts {

/// Appends the facts of a record whose fields the log parser has read: communicators, settings, adapters, Xids and
/// benchmark results. Their subject is `owner`, the writer of the line, unless the line names another process.
void facts_of_record(const logs::Record& record, const Subject& owner, std::vector<AnyFact>& facts);

}  // namespace ringside::facts
