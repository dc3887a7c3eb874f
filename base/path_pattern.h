#pragma once

#include <string>
#include <string_view>

namespace ringside {

/// A file's path with what tells processes apart filled in, as NCCL_DEBUG_FILE has it: %h the host, %p the process,
/// %% a percent sign; other letters behind one stay as they are.
std::string filled_in_path(std::string_view pattern, std::string_view host, int pid);

}  // namespace ringside
