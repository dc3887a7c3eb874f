#include "diag/report/audit_report.h"

#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>

#include "diag/audit/finding_types.h"
#include "diag/report/finding_pages.h"
#include "tests/audit/tcp_job.h"

namespace ringside::audit {
namespace {

TEST(AuditReport, TextQuotesTheLineAndTheFix) {
  const std::string text = report_text(audit_text(job_over_tcp(), "logs/rank7.log"), {});
  EXPECT_NE(text.find("socket_fallback"), std::string::npos);
  EXPECT_NE(text.find("line 1: Using network Socket"), std::string::npos) << text;
  EXPECT_NE(text.find("NCCL_NET=IB"), std::string::npos);
}

TEST(AuditReport, ThePageEscapesLogText) {
  const Audit audit = audit_text(
      "n01:1:1 [0] init.cc:5 NCCL WARN Duplicate GPU detected : rank 0 and rank 1 both on CUDA "
      "device <b>\n");
  const std::string page = report_html(audit);
  EXPECT_EQ(page.find("device <b>"), std::string::npos);
}

// 10 rows of nccl-tests' all-gather on 80 ranks: 33,553,920 is the multiple of 80 elements next below 32M.
TEST(AuditReport, ThePageHasTheHeadTheNotesAndTheMeasurements) {
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
  EXPECT_EQ(page.find("http"), std::string::npos) << "the page needs no other file";
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

// A page for each id and no page without one; the index matches the table of ids.
TEST(FindingPages, ThereIsOneForEachId) {
  std::set<std::string> ids{"README"}, pages;
  for (const FindingType& type : finding_types()) ids.emplace(type.id);
  for (const FindingPage& page : kFindingPages) {
    pages.emplace(page.name);
  }
  EXPECT_EQ(ids, pages);
  for (const FindingPage& page : kFindingPages) {
    if (page.name == "README") {
      EXPECT_EQ(page.text, findings_index())
          << "ringside audit --about all > docs/findings/README.md";
      continue;
    }
    EXPECT_TRUE(page.text.starts_with("# " + std::string(page.name) + "\n")) << page.name;
    for (const std::string_view part : {"## What it means", "## How to fix", "## Example"})
      EXPECT_NE(page.text.find(part), std::string_view::npos) << page.name << ": " << part;
  }
}

TEST(FindingPages, ArePrintedById) {
  EXPECT_TRUE(about_text("gid_index"));
  EXPECT_TRUE(about_text("all"));
  EXPECT_FALSE(about_text("gid_indx"));
  EXPECT_FALSE(about_text("README"));
}

TEST(FindingTypes, AreSortedAndTheirFamiliesAreIdsWithoutOne) {
  std::string_view last;
  for (const FindingType& type : finding_types()) {
    EXPECT_LT(last, type.id);
    last = type.id;
    EXPECT_EQ(finding_type(type.id), &type);
    if (type.family.empty()) continue;
    const FindingType* family = finding_type(type.family);
    ASSERT_NE(family, nullptr) << type.id;
    EXPECT_TRUE(family->family.empty()) << type.id;
    EXPECT_TRUE(is_a(type.id, type.family));
    EXPECT_FALSE(is_a(type.family, type.id));
  }
  EXPECT_EQ(finding_type("no_such_id"), nullptr);
}

// A healthy job and an unreadable one must not look alike.
TEST(AuditReport, UnreadInputsAreListed) {
  const Audit odd =
      audit_text("n01:1:1 [0] init.cc:77 NCCL WARN The flux of the network is inverted\n");
  EXPECT_EQ(odd.worst(), Severity::Warning);
  EXPECT_TRUE(odd.has("unread_lines", Severity::Warning));
  EXPECT_NE(report_text(odd, {}).find("1 of 1 lines of the communication stack not understood"),
            std::string::npos);
  const Audit foreign = audit_text("step 1: loss 2.31\nstep 2: loss 2.29\n");
  EXPECT_TRUE(foreign.has("nothing_read"));
  EXPECT_NE(report_text(foreign, {}).find("none of them is of the communication stack"),
            std::string::npos);
  const Audit healthy = audit_text("n01:1:1 [0] NCCL INFO Using network IB\n");
  EXPECT_FALSE(healthy.has("unread_lines"));
  EXPECT_FALSE(healthy.has("nothing_read"));
}

}  // namespace
}  // namespace ringside::audit
