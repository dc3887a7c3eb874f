#include "diag/audit/cost.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "diag/audit/audit.h"
#include "diag/audit/expected_job.h"
#include "diag/audit/report.h"
#include "engine/topology/nccl_xml.h"

namespace ringside::audit {
namespace {

/// 16 ranks on two hosts that move their data over TCP.
std::string job_over_tcp() {
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

// One NIC of 10 Gbit/s a host is 1.25 GB/s; eight of 200 Gbit/s are 160 times that.
TEST(AuditCost, TcpCostsMostOfTheBandwidth) {
  Audit audit = audit_text(job_over_tcp());
  ASSERT_TRUE(audit.has("socket_fallback", Severity::Warning));
  const Result<std::string> source = add_costs(audit, "dgx-a100");
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_EQ(*source, "dgx-a100");
  const Finding& finding = audit.findings.front();
  ASSERT_TRUE(finding.cost);
  EXPECT_GT(finding.cost->actual_gbs, 0);
  EXPECT_GT(finding.cost->expected_gbs, 10 * finding.cost->actual_gbs);
}

TEST(AuditCost, HostsThatNobodyKnowsAreAnError) {
  Audit audit = audit_text(job_over_tcp());
  EXPECT_FALSE(add_costs(audit, "no-such-preset"));
}

TEST(AuditTopology, ADumpedTopologyIsAHostAgain) {
  const std::string who = "n01:4000:4100 [0] NCCL INFO ";
  std::string text;
  for (const char* line :
       {"=== System : maxBw 240.0 totalBw 240.0 ===", "CPU/0-0 (1/1/2)",
        "+ PCI[24.0] - GPU/0-17000 (0)", "              + NVL[240.0] - GPU/0-65000",
        "+ PCI[24.0] - NIC/0-4b000", "+ PCI[24.0] - GPU/0-65000 (1)",
        "              + NVL[240.0] - GPU/0-17000", "=========================================="}) {
    text += who + line + "\n";
  }
  const Audit audit = audit_text(text);
  ASSERT_EQ(audit.facts.dumps.size(), 1U);
  const Result<Host> host = host_of_dump(audit.facts.dumps[0]);
  ASSERT_TRUE(host) << host.error().message;
  ASSERT_EQ(gpus_of(*host).size(), 2U);
  ASSERT_EQ(gpus_of(*host)[0]->nvlinks.size(), 1U);
  EXPECT_EQ(gpus_of(*host)[0]->nvlinks[0].count, 12);  // 240 / 20
  const Result<Host> again = parse_nccl_xml(to_nccl_xml(*host), "dump");
  EXPECT_TRUE(again) << again.error().message;
}

TEST(AuditReport, TextQuotesTheLineAndTheMend) {
  const std::string text = report_text(audit_text(job_over_tcp(), "logs/rank7.log"), {});
  EXPECT_NE(text.find("socket_fallback"), std::string::npos);
  EXPECT_NE(text.find("line 1: Using network Socket"), std::string::npos) << text;
  EXPECT_NE(text.find("NCCL_NET=IB"), std::string::npos);
}

TEST(AuditReport, ThePageEscapesWhatALogSays) {
  const Audit audit = audit_text(
      "n01:1:1 [0] init.cc:5 NCCL WARN Duplicate GPU detected : rank 0 and rank 1 both on CUDA "
      "device <b>\n");
  const std::string page = report_html(audit);
  EXPECT_EQ(page.find("device <b>"), std::string::npos);
}

// 10 rows of nccl-tests' all-gather on 80 ranks: 33,553,920 is the multiple of 80 elements next below 32M.
TEST(AuditReport, ThePageHasTheHeadTheNotesAndWhatWasMeasured) {
  const Audit audit = audit_text(
      "# Collective test starting: all_gather_perf\n"
      "# nThread 1 nGpus 1 minBytes 33553920 maxBytes 33553920 step: 2(factor) warmup iters: 5 "
      "iters: "
      "20 agg iters: 1 validation: 1 graph: 0\n"
      "#       size         count      type   redop    root     time   algbw   busbw #wrong     "
      "time   algbw   busbw #wrong\n"
      "    33553920        104856     float    none      -1    672.0   49.93   49.30      0    "
      "680.1   49.34   48.72      0\n"
      "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 49.01\n");
  const std::string page = report_html(audit);
  for (const char* part :
       {"<dt>found</dt><dd>0 errors, 0 warnings, 0 notes</dd>", "<h2>Measured</h2>",
        "<td>32M</td><td>672.0</td><td>49.3</td>", "</html>"}) {
    EXPECT_NE(page.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(page.find("http"), std::string::npos) << "the page stands alone";
}

TEST(AuditReport, BannersGluedTogetherAreOneVersion) {
  const Audit audit = audit_text(
      "NCCL version 2.7.8+cuda10.2NCCL version 2.7.8+cuda10.2\n\nNCCL version 2.7.8+cuda10.2\n");
  EXPECT_EQ(audit.facts.versions.size(), 1U);
}

TEST(AuditReport, LinesKeepToTheWidth) {
  std::string log = job_over_tcp();
  for (const int width : {60, 80}) {
    const Audit audit = audit_text(log, "logs/rank7.log");
    std::istringstream lines(report_text(audit, {.width = width, .is_verbose = true}) +
                             facts_text(audit, {.width = width}));
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(static_cast<int>(line.size()), width) << line;
    }
  }
}

TEST(AuditReport, TwoRunsDifferInWhatChanged) {
  const std::string good = job_over_tcp();
  const std::string bad =
      good + "n01:4000:4100 [0] NCCL INFO NCCL_P2P_DISABLE set by environment to 1\n";
  const std::string text = diff_text(audit_text(good), audit_text(bad), {});
  EXPECT_NE(text.find("NCCL_P2P_DISABLE"), std::string::npos);
  EXPECT_NE(diff_text(audit_text(good), audit_text(good), {}).find("nothing differs"),
            std::string::npos);
}

}  // namespace
}  // namespace ringside::audit
