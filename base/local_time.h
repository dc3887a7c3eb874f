#pragma once

#include <string>

namespace ringside {

/// Returns the current time of this host's zone.
/// format  as std::put_time() has it
std::string local_time(const char* format = "%Y-%m-%d %H:%M:%S");

}  // namespace ringside
