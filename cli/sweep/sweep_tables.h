#pragma once

#include <string>

#include "base/json.h"
#include "study/sweep/sweep_report.h"

/// Formats a sweep's results as text, CSV and JSON.
namespace ringside::cli {

std::string sweep_text(const study::SweepReport& report);

/// Returns a line of column names, then one line per point.
std::string sweep_csv(const study::SweepReport& report);

/// schema  ringside.sweep/1
Json sweep_document(const study::SweepReport& report);

/// Returns a line per workload: "fastest: h100, 2.31s a step, 12 days for 2 trillion tokens; next:
/// b200, 12.0 % slower".
std::vector<std::string> sweep_headlines(const study::SweepReport& report);

/// Returns how far the next point and the next cluster are behind, or that error bars overlap.
/// shape  best.second is set
std::string rivals_text(const study::SweepReport& report, const study::SweepBest& best,
                        const char* more);

/// Returns true if any finished point has a memory figure: tables then have a memory column.
bool has_memory_column(const study::SweepReport& report);

/// Returns the gigabytes (10^9 bytes) that the fullest GPU needs; empty: unknown.
std::string memory_text(const PointResult& result);

/// "2 trillion"
std::string in_words(double count);

/// Three significant digits, thousands with a blank.
std::string short_number(double value);

}  // namespace ringside::cli
