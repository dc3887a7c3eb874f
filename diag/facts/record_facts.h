#pragma once

#include <vector>

#include "diag/facts/schema.h"
#include "diag/logparse/record.h"

namespace ringside::facts {

/// The facts of a record that the log parser has read field by field: communicators, settings, adapters, Xids, results
/// of benchmarks. Their subject is the owner of the line, unless it names another.
void facts_of_record(const logs::Record& record, const Subject& owner, std::vector<AnyFact>& facts);

}  // namespace ringside::facts
