#pragma once

#include <string>

#include "study/validate/validation.h"

namespace ringside::cli {

/// Draws simulated over measured time as an SVG document: one line per system, one panel per size
/// class. Axes are logarithmic from 1/4 to 4; values beyond are drawn at the ends. A dot is a row,
/// a bar the median, a ring the median of NCCL's own model.
std::string errors_svg(const study::Validation& validation);

}  // namespace ringside::cli
