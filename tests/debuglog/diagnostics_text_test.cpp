#include "engine/debuglog/diagnostics_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/debuglog/line.h"

namespace ringside {
namespace {

using testing::Contains;
using testing::ElementsAre;

std::vector<RankDiagnosis> alike(int count) {
  return std::vector<RankDiagnosis>(static_cast<std::size_t>(count),
                                    {.gpu = "NVIDIA H100",
                                     .gpus = 8,
                                     .driver = 13010,
                                     .nvlinks = 18,
                                     .variables = {{"NCCL_IB_HCA", "mlx5"}}});
}

// source  ecosystem-facts 2.6
TEST(RasDiagnostics, EqualRanksPassEveryCheck) {
  EXPECT_THAT(
      ras_diagnostics_text(0xab, alike(16), 12.5),
      ElementsAre(
          "=== RAS Diagnostics ===",
          "[OK]   GPU inventory: 8x NVIDIA H100 per node consistent across 16 ranks in comm 0xab",
          "[OK]   CUDA driver version: 13010 consistent across 16 ranks in comm 0xab",
          "[OK]   ECC: no uncorrected volatile errors across 16 ranks in comm 0xab",
          "[OK]   NVLink: found 18 link(s) per device, all active across 16 ranks in comm 0xab",
          "[OK]   NCCL environment: NCCL_* env vars consistent across 16 ranks in comm 0xab",
          "RAS diagnostics completed in 12.500 ms across 16 ranks"));
}

TEST(RasDiagnostics, NameTheRanksThatDiffer) {
  std::vector<RankDiagnosis> ranks = alike(4);
  ranks[2].nvlinks = 0;
  ranks[3].driver = 12080;
  ranks[3].gpu = "NVIDIA H200";
  ranks[3].gpus = 1;
  ranks[1].variables.clear();
  const auto lines = ras_diagnostics_text(0xab, ranks, 1);
  for (
      const char* const line :
      {"[INFO] NVLink: link-count mismatch across 4 ranks in comm 0xab, rank(s) {2} (N=1) differ "
       "from rank 0 (18)",
       "[INFO] CUDA driver version: mismatch across 4 ranks in comm 0xab, rank(s) {3} (N=1) differ "
       "from rank 0 (13010)",
       "[INFO] GPU inventory: model mismatch across 4 ranks in comm 0xab, rank(s) {3} (N=1) differ "
       "from rank 0 (NVIDIA H100)",
       "[INFO] GPU inventory: count mismatch across 4 ranks in comm 0xab, rank(s) {3} (N=1) differ "
       "from rank 0 (8)",
       "[INFO] NCCL environment: NCCL_* env vars mismatch across 4 ranks in comm 0xab for "
       "NCCL_IB_HCA",
       "[INFO] NCCL environment: NCCL_IB_HCA=(unset) on rank(s) {1}",
       "[INFO] NCCL environment: NCCL_IB_HCA=mlx5 on rank(s) {0,2,3}"}) {
    EXPECT_THAT(lines, Contains(line));
  }
}

// source  docs/formats D.6
TEST(Diagnostics, CountTheTestedEdges) {
  EXPECT_THAT(
      diagnostics_text(56, 0, 8, 2),
      ElementsAre("=== NCCL Diagnostics ===", "[OK]   p2p: all 56 directed GPU P2P edges verified",
                  "NCCL diagnostics completed in 2.000 ms across 8 ranks"));
  EXPECT_THAT(diagnostics_text(40, 16, 8, 2),
              Contains("[INFO] p2p: 40/56 directed GPU P2P edges verified (skipped indirect=16)"));
}

TEST(Diagnostics, HaveNoThreadInTheirPrefixAndNoSubsystem) {
  DebugLog log{{31, 2}, Subsystems{}, "n01", 411};
  log.diagnosis("=== NCCL Diagnostics ===");
  EXPECT_EQ(log.text(), "n01:411 NCCL DIAG === NCCL Diagnostics ===\n");
}

}  // namespace
}  // namespace ringside
