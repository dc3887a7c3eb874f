#pragma once

#include <string>
#include <string_view>

namespace ringside {

/// Fills in the placeholders of NCCL_DEBUG_FILE in a path: %h is the host, %p the process id, %% a percent sign; %
/// before any other letter stays unchanged.
std::string filled_in_path(std::string_view pattern, std::string_view host, int pid);

}  // namespace ringside
