#pragma once

#include <string>

#include "base/json.h"
#include "study/sweep/sweep_report.h"

/// A sweep's results as text, CSV and JSON.
namespace ringside::cli {

std::string sweep_text(const study::SweepReport& report);

/// A line of names, then one for each point.
std::string sweep_csv(const study::SweepReport& report);

/// schema  ringside.sweep/1
Json sweep_document(const study::SweepReport& report);

/// "fastest: h100, 2.31s a step, 12 days for 2 trillion tokens; next: b200, 12.0 % slower"; a line each, of each workload.
std::vector<std::string> sweep_headlines(const study::SweepReport& report);

/// The next point, and the next cluster's: how far behind, or that the error bars overlap.  shape  best.second is set
std::string rivals_text(const study::SweepReport& report, const study::SweepBest& best,
                        const char* more);

/// Whether any finished point has memory; then tables have a column of it.
bool has_memory_column(const study::SweepReport& report);

/// Gigabytes (10^9 bytes) that the fullest GPU needs; empty: unknown.
std::string memory_text(const PointResult& result);

/// "2 trillion"
std::string in_words(double count);

/// Three significant digits, thousands with a blank.
std::string short_number(double value);

}  // namespace ringside::cli
