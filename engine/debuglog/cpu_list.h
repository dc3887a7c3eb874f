#pragma once

#include <string>
#include <string_view>

namespace ringside {

/// "ffffffff,00000000" -> "32-63": a set of processors, from the form in which /sys prints it to ranges.
/// What is no such mask stays.
std::string cpu_list(std::string_view mask);

}  // namespace ringside
