#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "trace/call_statistics.h"

/// The tables of a trace's collectives, for `trace info`.
namespace ringside::cli {

/// Exact if that is short, otherwise with one decimal of the largest unit: 64M, 1000, 3.4G.
std::string short_bytes(Bytes size);

/// every_one  all rows; false: the first 200
void print_sizes(const std::vector<SizeSummary>& sizes);
void print_calls(const std::vector<CallSummary>& calls, bool every_one);

Json sizes_json(const std::vector<SizeSummary>& sizes);
Json calls_json(const std::vector<CallSummary>& calls);

}  // namespace ringside::cli
