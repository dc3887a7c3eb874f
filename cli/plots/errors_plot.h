#pragma once

#include <string>

#include "study/validate/validation.h"

namespace ringside::cli {

/// Simulated over measured time as an SVG document: a line a system, a panel a class of sizes, each axis logarithmic
/// from a quarter to four times with what lies beyond at its ends. A dot is a row, a bar their median, a ring the
/// median of NCCL's own model.
std::string errors_svg(const study::Validation& validation);

}  // namespace ringside::cli
