#pragma once

#include <string>
#include <vector>

namespace ringside::cli {

/// Returns the words that this process was started with, joined by blanks; traces store them.
std::string command_line();
std::vector<std::string> command_words();

}  // namespace ringside::cli
