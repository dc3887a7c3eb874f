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

/// "fastest: h100, 2.31 s a step, 1.12 times as fast as b200"; a line each, of each workload.
std::vector<std::string> sweep_headlines(const study::SweepReport& report);

/// Three significant digits, thousands with a blank.
std::string short_number(double value);

}  // namespace ringside::cli
