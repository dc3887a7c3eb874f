#pragma once

#include <string>

#include "study/sweep/sweep_report.h"

namespace ringside::cli {

/// Returns a sweep's results as one self-contained HTML page for decision makers: the answer first,
/// then the plots, all points, and the assumptions.
std::string sweep_page(const study::SweepReport& report);

}  // namespace ringside::cli
