#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"

namespace ringside {

/// Returns the variable's value; nullopt if unset or empty.
std::optional<std::string> env_text(const char* name);

/// A source of variables: env_text, or a table in a test.
using Environment = std::function<std::optional<std::string>(const char* name)>;

/// Returns one of ringside's own variables as a whole number in decimal notation; nullopt if unset or empty.
/// errors  InvalidArgument: not such a number, or outside [least, most]
Result<std::optional<std::int64_t>> env_int(const char* name, std::int64_t least,
                                            std::int64_t most);

/// Returns a variable of `environment` as a whole number in the notations that NCCL reads (strtoll): 20, 0x14, and
/// octal 024; nullopt if unset or empty.
/// errors  InvalidArgument: not a number, trailing characters, or outside [least, most]
Result<std::optional<std::int64_t>> env_int(const Environment& environment, const char* name,
                                            std::int64_t least, std::int64_t most);

}  // namespace ringside
