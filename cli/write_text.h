#pragma once

#include <string>

#include "base/result.h"

namespace ringside::cli {

/// Makes or replaces the file. errors  System, with its path
Status write_text(const std::string& path, const std::string& text);

/// Rather now than when all is done. Leaves the file as it is, or away; an empty path is none.
/// errors  InvalidArgument, with the option
Status check_writable(const std::string& option, const std::string& path);

}  // namespace ringside::cli
