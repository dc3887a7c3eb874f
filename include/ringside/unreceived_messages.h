#pragma once

#include <cstdint>
#include <string_view>

namespace ringside {

/// Part of the reason of a dump, after the name of the receiver; verdicts know such a dump by it.
inline constexpr std::string_view kLeftWithoutReceiving =
    " has left the communicator without receiving ";

/// Messages of a communicator that were sent and never received, when all its ranks have left it. Only messages between
/// ranks of one host are known.
struct UnreceivedMessages {
  std::uint64_t sent = 0;    ///< by this rank: their receivers left without receiving them
  std::uint64_t missed = 0;  ///< to this rank, which left without receiving them
};

}  // namespace ringside
