#pragma once

#include <string>

namespace ringside::cli {

/// Returns the words that this process was started with, joined by blanks; traces store them.
std::string command_line();

}  // namespace ringside::cli
