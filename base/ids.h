#pragma once

#include <cstdint>

#include "base/device_code.h"

namespace ringside {

enum class Rank : std::int32_t {};       ///< place in a communicator, 0 .. n-1
enum class ChannelId : std::int32_t {};  ///< one parallel lane of a communicator

inline constexpr Rank kNoRank{-1};  ///< no peer on this side

RINGSIDE_HD constexpr std::int32_t to_int(Rank rank) { return static_cast<std::int32_t>(rank); }
RINGSIDE_HD constexpr std::int32_t to_int(ChannelId channel) {
  return static_cast<std::int32_t>(channel);
}

}  // namespace ringside
