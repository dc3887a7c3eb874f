#include "tests/logparse/differential.h"

#include <gtest/gtest.h>

#include "tests/logparse/corpus.h"

namespace ringside::logs {
namespace {

/// Returns one line of each kind that the plain reader knows, and lines of the audit's cases.
std::vector<std::string> sample_lines() {
  std::vector<std::string> lines = {
      "n01:411:980 [3] NCCL INFO Channel 00/0 : 3[3] -> 4[4] via P2P/CUMEM/read",
      "n01:411:980 [3] NCCL INFO Channel 02/1 : 7[7] -> 9[1] [send] via NET/IB/2(3)/GDRDMA/Shared",
      "n01:411:980 [3] NCCL INFO comm 0x55aa10 rank 7 nranks 16 cudaDev 7 busId db000 - Init "
      "COMPLETE",
      "n01:411:980 [3] NCCL INFO 16 coll channels, 0 nvls channels, 16 p2p channels, 2 p2p "
      "channels per peer",
      "n01:411:980 [3] NCCL INFO Ring 00 : 2 -> 3 -> 4",
      "n01:411:980 [3] NCCL INFO Using network IB",
      // Beyond 16, 32 and 64 bits: modulo those, they would read 1, 3, 3 and 7.
      "n01:411:980 [3] NCCL INFO Channel 65537/0 : 3[3] -> 4[4] via P2P/CUMEM/read",
      "n01:411:980 [3] NCCL INFO Channel 00/0 : 4294967299[3] -> 4[4] via P2P/CUMEM/read",
      "n01:411:980 [3] NCCL INFO Ring 00 : 2 -> 4294967299 -> 4",
      "n01:411:980 [3] NCCL INFO comm 0x10000000000000007 rank 7 nranks 16 cudaDev 7 busId db000 - "
      "Init COMPLETE",
      "n01:411:980 [3] NCCL INFO AllReduce: opCount 1f sendbuff 0x7f00 recvbuff 0x7f00 count "
      "1048576 datatype 9 op 0 root 0 "
      "comm 0x55aa10 [nranks=16] stream 0x6600"};
  for (std::string& line : some_lines(logs_in(RINGSIDE_AUDIT_CASES), 12)) {
    lines.push_back(std::move(line));
  }
  return lines;
}

TEST(Differential, FastAndPlainReaderAgreeOnLinesAndTheirMutations) {
  EXPECT_GT(expect_readers_agree(sample_lines()), 1000U);
}

TEST(Differential, ALineLikeACachedOneParsesAsItDoesAlone) {
  EXPECT_GT(expect_known_lines_change_nothing(sample_lines()), 1000U);
}

}  // namespace
}  // namespace ringside::logs
