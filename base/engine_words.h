#pragma once

#include <string_view>

/// Words that ringside's engine writes into its logs and dumps, and by which the diagnosis recognises them.
namespace ringside {

/// The reason in a rank's dump if the rank itself has no failure: a call of another rank of its communicator failed.
inline constexpr std::string_view kOtherCallFailed = "a call of another rank failed";

/// Precedes the length of a wait that ended at the time-out: `rank 0 lost rank 1 on channel 0: waited 5 s for a chunk`.
inline constexpr std::string_view kWaited = "waited ";

}  // namespace ringside
