#pragma once

#include <cstdint>
#include <string>

namespace ringside::hangs {

inline constexpr std::int64_t kSecond = 1'000'000'000;  ///< ns

// A wall clock in nanoseconds since the epoch, in UTC, as the logs of PyTorch print it.

std::string log_stamp(std::int64_t wall_ns);      ///< `303 10:00:07`: C++ does not pad the month
std::string agent_stamp(std::int64_t wall_ns);    ///< `0303 10:00:07`: Python does
std::string summary_stamp(std::int64_t wall_ns);  ///< `2026-03-03_10:00:07`

}  // namespace ringside::hangs
