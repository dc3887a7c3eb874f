#pragma once

#include <string>

#include "study/sweep/sweep_report.h"

namespace ringside::cli {

/// A sweep's results as one HTML page without other files, for the person who decides: the answer first, the plots,
/// all points, and the assumptions.
std::string sweep_page(const study::SweepReport& report);

}  // namespace ringside::cli
