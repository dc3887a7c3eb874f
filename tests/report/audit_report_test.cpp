#include "diag/report/audit_report.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "tests/audit/tcp_job.h"

namespace ringside::audit {
namespace {

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
