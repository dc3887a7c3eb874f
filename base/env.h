#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"

namespace ringside {

/// The variable's value; nothing when unset or empty.
std::optional<std::string> env_text(const char* name);

/// Where variables come from: env_text, or a table in a test.
using Environment = std::function<std::optional<std::string>(const char* name)>;

/// The variable as a whole number; nothing when unset or empty.
/// errors  InvalidArgument: not a number, or outside [least, most]
Result<std::optional<std::int64_t>> env_int(const char* name, std::int64_t least,
                                            std::int64_t most);

/// The same from `environment`, in the ways in which NCCL reads whole numbers: 20, 0x14, 024.
/// errors  InvalidArgument: not a number to its end, or outside [least, most]
Result<std::optional<std::int64_t>> env_int(const Environment& environment, const char* name,
                                            std::int64_t least, std::int64_t most);

}  // namespace ringside
