#pragma once

#include <string>
#include <vector>

#include "study/validate/curve.h"

namespace ringside::cli {

/// Time and bus bandwidth over size as an SVG document, side by side, all axes logarithmic. What is not
/// positive has no place there and is left out.
std::string curves_svg(const std::string& title, const std::vector<study::Curve>& curves);

}  // namespace ringside::cli
