#pragma once

#include <string>

/// Small files of /sys and /proc below a root. What cannot be read is empty.
namespace ringside::probe {

std::string read_line(const std::string& path);  ///< without blanks at its end
std::string link_name(const std::string& path);  ///< the last part of where a link leads
double leading_value(const std::string& text, double otherwise);

}  // namespace ringside::probe
