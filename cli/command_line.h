#pragma once

#include <string>

namespace ringside::cli {

/// The words that this process was started with, joined by blanks: traces keep them.
std::string command_line();

}  // namespace ringside::cli
