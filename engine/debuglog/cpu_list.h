#pragma once

#include <string>
#include <string_view>

namespace ringside {

/// "ffffffff,00000000" -> "32-63": converts a processor mask of /sys into ranges. Returns a text that is not such a
/// mask unchanged.
std::string cpu_list(std::string_view mask);

}  // namespace ringside
