#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "trace/call_statistics.h"

/// The tables of a trace's collectives, for `trace info`.
namespace ringside::cli {

/// Exact if that is short, otherwise with one decimal of the largest unit: 64M, 1000, 3.4G.
std::string short_bytes(Bytes size);

/// Prints a row for each collective and size; nothing if there are none.
void print_sizes(const std::vector<SizeSummary>& sizes);

/// Prints a row for each call.
/// every_one  all rows; false: the first 200
void print_calls(const std::vector<CallSummary>& calls, bool every_one);
/// Prints the calls of endless_calls() as print_calls() does; nothing if there are none.
void print_endless(const std::vector<CallSummary>& calls, bool every_one);

/// Returns the calls that never ended on some rank.
std::vector<CallSummary> endless_calls(const std::vector<CallSummary>& calls);

Json sizes_json(const std::vector<SizeSummary>& sizes);
Json calls_json(const std::vector<CallSummary>& calls);

}  // namespace ringside::cli
