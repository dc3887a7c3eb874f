#pragma once

#include <string>
#include <vector>

#include "study/validate/curve.h"

namespace ringside::cli {

/// Draws time and bus bandwidth over size as an SVG document, side by side, with logarithmic axes.
/// Values that are not positive are omitted.
std::string curves_svg(const std::string& title, const std::vector<study::Curve>& curves);

}  // namespace ringside::cli
