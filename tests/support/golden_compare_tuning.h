#pragma once

#include "base/json.h"
#include "engine/tuning/select.h"
#include "tests/support/golden_compare.h"

namespace ringside::oracle {

/// The latency and bandwidth of every combination, threads and thresholds.
Comparison compare_table(const Json& golden, const Tuner& tuner);

/// Every row of `choices`: algorithm, protocol, channels, threads, time, channels used, chunk.
/// Counts rows, not values.
Comparison compare_choices(const Json& golden, const Tuner& tuner);

}  // namespace ringside::oracle
