#pragma once

#include <cstdint>

namespace ringside {

/// Messages of a communicator that were sent and never received, when all its ranks have left it. Only messages between
/// ranks of one host are known.
struct UnreceivedMessages {
  std::uint64_t sent = 0;    ///< by this rank: their receivers left without receiving them
  std::uint64_t missed = 0;  ///< to this rank, which left without receiving them
};

}  // namespace ringside
