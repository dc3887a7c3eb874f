#pragma once

#include <string>

/// Reads small files of /sys and /proc. Unreadable files count as empty.
namespace ringside::probe {

std::string read_line(const std::string& path);  ///< strips trailing blanks
std::string link_name(const std::string& path);  ///< the last component of a link's target
double leading_value(const std::string& text, double otherwise);

}  // namespace ringside::probe
