#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "diag/hangdetect/readers/call.h"

namespace ringside::hang {

/// How long the oldest pending call had been pending when its dump was written, by the file's time of
/// modification, which is of the same clock as the times in it.
///
/// returns  the longest of all dumps, in nanoseconds; nothing where no call is pending, or a file's time
///          tells nothing: it lies before the call, or there is no such file
std::optional<std::int64_t> oldest_wait_ns(std::span<const RankDump> dumps);

}  // namespace ringside::hang
