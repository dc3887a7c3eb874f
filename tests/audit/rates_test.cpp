#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "diag/audit/audit.h"
#include "diag/audit/cost.h"

// Compares measured rates with the rates that are expected of the hosts.

namespace ringside::audit {
namespace {

using testing::HasSubstr;

/// A table of nccl-tests: all-reduces of 1 and 4 GiB at that bus bandwidth.
std::string table_of(int hosts, int each, const std::string& gpu, double busbw_gbs,
                     const std::string& before = {}) {
  std::string text = before +
                     "# nThread 1 nGpus 1 minBytes 1073741824 maxBytes 4294967296 step: 4(factor) "
                     "warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0\n#\n# Using "
                     "devices\n";
  const int ranks = hosts * each;
  for (int rank = 0; rank < ranks; ++rank)
    text +=
        fmt::format("#  Rank {:2} Group  0 Pid {} on  node{:02} device {:2} [0000:{:02x}:00] {}\n",
                    rank, 4'000 + rank, rank / each, rank % each, 16 + rank % each, gpu);
  text +=
      "#\n#       size         count      type   redop    root     time   algbw   busbw #wrong     "
      "time   algbw   busbw #wrong\n#        (B)    (elements)                               (us)  "
      "(GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)       \n";
  for (const std::uint64_t bytes : {std::uint64_t{1} << 30, std::uint64_t{4} << 30}) {
    const double algbw = busbw_gbs * ranks / (2.0 * (ranks - 1));
    const std::string half =
        fmt::format("{:8.0f} {:7.2f} {:7.2f}      0", static_cast<double>(bytes) / algbw / 1e3,
                    algbw, busbw_gbs);
    text +=
        fmt::format("{:12} {:13}     float     sum      -1 {} {}\n", bytes, bytes / 4, half, half);
  }
  return text + fmt::format("# Out of bounds values : 0 OK\n# Avg bus bandwidth    : {:.3f}\n#\n",
                            busbw_gbs);
}

const std::string kH100 = "NVIDIA H100 80GB HBM3";

TEST(AuditRates, ATenthOfTheExpectedRateIsAFinding) {
  const Audit audit = audit_text(table_of(2, 8, kH100, 39));
  ASSERT_TRUE(audit.has("low_bandwidth", Severity::Warning));
  EXPECT_THAT(audit.findings.front().title, HasSubstr("39.0 GB/s"));
  EXPECT_THAT(audit.findings.front().title, HasSubstr(" % of the "));
  ASSERT_TRUE(audit.findings.front().cost);
  EXPECT_GT(audit.findings.front().cost->expected_gbs, 8 * 39);
}

TEST(AuditRates, ExpectedRatesGiveNoFinding) {
  EXPECT_EQ(audit_text(table_of(2, 8, kH100, 340)).worst(), Severity::Info);
  EXPECT_EQ(audit_text(table_of(1, 8, kH100, 370)).worst(), Severity::Info);
  // Fewer NICs than a DGX has: the logs do not show how many these hosts have.
  EXPECT_EQ(audit_text(table_of(2, 8, "NVIDIA A100-SXM4-40GB", 44)).worst(), Severity::Info);
}

TEST(AuditRates, NicsThatTheLogListsWinOverThePreset) {
  const std::string one_nic =
      "node00:4000:4100 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eth0:10.0.0.1<0>\n";
  const Audit few = audit_text(table_of(2, 8, kH100, 39, one_nic));
  ASSERT_EQ(few.facts.tables.size(), 1U);
  EXPECT_FALSE(few.has("low_bandwidth", Severity::Warning));
  EXPECT_THAT(few.facts.tables.front().expected_of, HasSubstr("1 NIC"));
  EXPECT_LT(few.facts.tables.front().rows.back().expected_gbs, 100);
}

TEST(AuditRates, AGb200RackIsNotTakenForADgxB200) {
  const Audit audit = audit_text(table_of(2, 4, "NVIDIA GB200", 840));
  EXPECT_EQ(audit.worst(), Severity::Info);
  for (const BenchmarkLine& row : audit.facts.tables.front().rows) {
    if (row.expected_gbs > 0) {
      EXPECT_LT(row.busbw_gbs / row.expected_gbs, 1.3);
    }
  }
  EXPECT_EQ(audit.facts.tables.front().expected_of.find("dgx-b200"), std::string::npos);
}

TEST(AuditRates, ExpectsNoRateOfAnUnknownMachine) {
  const Audit audit = audit_text(table_of(1, 4, "NVIDIA GeForce RTX 4090", 7));
  EXPECT_EQ(audit.worst(), Severity::Info);
  EXPECT_TRUE(audit.facts.tables.front().expected_of.empty());
  // More GPUs on a host than the preset has: it is another machine.
  EXPECT_TRUE(audit_text(table_of(2, 4, "NVIDIA GH200 120GB", 90))
                  .facts.tables.front()
                  .expected_of.empty());
}

TEST(AuditRates, AClusterThatIsNamedJudges) {
  Audit audit = audit_text(table_of(2, 8, "NVIDIA A100-SXM4-40GB", 44));
  ASSERT_EQ(audit.worst(), Severity::Info);
  ASSERT_TRUE(add_costs(audit, "dgx-a100"));
  EXPECT_TRUE(audit.has("low_bandwidth", Severity::Warning));
}

TEST(AuditRates, ProcessesThatAllCountFromRankZeroMeasureThemselves) {
  const auto row = [](int rank, int pid, const std::string& host) {
    return fmt::format(
        "#  Rank {:2} Group  0 Pid {} on  {} device {:2} [0x3b] Tesla V100-PCIE-32GB\n", rank, pid,
        host, rank);
  };
  const std::string head =
      "# nThread 1 nGpus 2 minBytes 8 maxBytes 8 step: 2(factor) warmup iters: 5 iters: 20 agg "
      "iters: 1 validation: 1 graph: 0\n#\n# Using devices\n";
  const std::string alone = head + head + row(0, 20451, "g11") + row(1, 20451, "g11") +
                            row(0, 18822, "g14") + row(1, 18822, "g14");
  EXPECT_TRUE(audit_text(alone).has("benchmark_without_mpi", Severity::Warning));
  const std::string together = head + row(0, 20451, "g11") + row(1, 20451, "g11") +
                               row(2, 18822, "g14") + row(3, 18822, "g14");
  EXPECT_FALSE(audit_text(together).has("benchmark_without_mpi"));
}

}  // namespace
}  // namespace ringside::audit
