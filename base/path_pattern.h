#pragma once

#include <string>
#include <string_view>

namespace ringside {

/// A file's path with the placeholders of NCCL_DEBUG_FILE filled in: %h is the host, %p the process id,
/// %% a percent sign; % before any other letter stays as it is.
std::string filled_in_path(std::string_view pattern, std::string_view host, int pid);

}  // namespace ringside
