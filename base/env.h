#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace ringside {

/// The variable's value; nothing when unset or empty.
std::optional<std::string> env_text(const char* name);

/// The variable as a whole number; nothing when unset or empty.
/// errors  InvalidArgument: not a number, or outside [least, most]
Result<std::optional<std::int64_t>> env_int(const char* name, std::int64_t least,
                                            std::int64_t most);

}  // namespace ringside
