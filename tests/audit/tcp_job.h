#pragma once

#include <string>

namespace ringside::audit {

/// 16 ranks on two hosts that move their data over TCP.
inline std::string job_over_tcp() {
  std::string text;
  for (int rank = 0; rank < 16; ++rank) {
    const std::string who = (rank < 8 ? "n01:" : "n02:") + std::to_string(4000 + rank) + ":" +
                            std::to_string(4100 + rank) + " [" + std::to_string(rank % 8) +
                            "] NCCL INFO ";
    const std::string comm = "comm 0x55aa" + std::to_string(rank) + " rank " + std::to_string(rank);
    text += who + "Using network Socket\n";
    text += who + "ncclCommInitRank " + comm + " nranks 16 cudaDev " + std::to_string(rank % 8) +
            " nvmlDev " + std::to_string(rank % 8) + " busId " + std::to_string(rank % 8 + 1) +
            "b000 commId 0x9f00c1d2e3f40516 - Init COMPLETE\n";
  }
  text += "n01:4007:4107 [7] NCCL INFO Channel 00/0 : 7[7] -> 8[0] [send] via NET/Socket/0\n";
  return text;
}

}  // namespace ringside::audit
