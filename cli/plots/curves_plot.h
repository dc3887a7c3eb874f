#pragma once

#include <string>
#include <vector>

#include "study/validate/curve.h"

namespace ringside::cli {

/// Time and bus bandwidth over size as an SVG document, next to each other, all axes logarithmic. Values that are not
/// positive cannot be drawn and are omitted.
std::string curves_svg(const std::string& title, const std::vector<study::Curve>& curves);

}  // namespace ringside::cli
