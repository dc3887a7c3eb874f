#pragma once

#include <string>

namespace ringside {

/// Returns this host's full name, from the kernel.
/// returns  `otherwise` if the name cannot be read
std::string host_name(const char* otherwise);

}  // namespace ringside
