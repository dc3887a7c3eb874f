#pragma once

#include <string>

namespace ringside {

/// What this host calls itself, whole, as the kernel has it.
/// returns  `otherwise` where it has no name that can be read
std::string host_name(const char* otherwise);

}  // namespace ringside
