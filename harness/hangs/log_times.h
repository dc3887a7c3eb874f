#pragma once

#include <cstdint>
#include <string>

namespace ringside::hangs {

inline constexpr std::int64_t kSecond = 1'000'000'000;  ///< ns

// Format a wall clock (ns since the epoch) in UTC, as PyTorch's logs do:

std::string log_stamp(std::int64_t wall_ns);      ///< `303 10:00:07`: C++ does not pad the month
std::string agent_stamp(std::int64_t wall_ns);    ///< `0303 10:00:07`: Python pads it
std::string summary_stamp(std::int64_t wall_ns);  ///< `2026-03-03_10:00:07`

}  // namespace ringside::hangs
