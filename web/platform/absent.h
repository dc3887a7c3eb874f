#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "base/result.h"

namespace ringside {

/// Returns the Error of what the web's program leaves to the installed one.
/// what  names it as the user asked for it: `--follow`
/// why   what it would need: `it starts processes`
inline Error not_in_browser(std::string_view what, std::string_view why) {
  return {ErrorCode::Unsupported, fmt::format("{} does not run in a browser: {}", what, why),
          "install ringside, which does it: docs/install.md"};
}

}  // namespace ringside
