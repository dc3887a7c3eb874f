#pragma once

#include <string>

namespace ringside {

/// This host's full name, from the kernel.
/// returns  `otherwise` where the name cannot be read
std::string host_name(const char* otherwise);

}  // namespace ringside
