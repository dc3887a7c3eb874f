#pragma once

#include <string>

#include "study/sweep/sweep_report.h"

namespace ringside::cli {

/// A sweep's results as one page of HTML without other files, for whoever decides: the answer first, the plots, all points,
/// and what it rests on.
std::string sweep_page(const study::SweepReport& report);

}  // namespace ringside::cli
