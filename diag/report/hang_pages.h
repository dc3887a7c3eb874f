#pragma once

#include <string_view>

#include "base/result.h"

namespace ringside::hang {

/// The page on a kind, docs/findings/hang_<kind>.md: what it means, how to confirm and fix it, when it is a false alarm, an example.
/// errors  InvalidArgument: no such kind; it names those that there are
Result<std::string_view> page_of(std::string_view kind);

}  // namespace ringside::hang
