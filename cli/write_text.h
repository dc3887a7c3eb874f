#pragma once

#include <string>

#include "base/result.h"

namespace ringside::cli {

/// Makes or replaces the file. errors  System, with its path
Status write_text(const std::string& path, const std::string& text);

}  // namespace ringside::cli
