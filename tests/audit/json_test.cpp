#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "diag/audit/audit.h"

// Reports as JSON in large logs: read whole, however many threads read and wherever files are cut.

namespace ringside::audit {
namespace {

namespace fs = std::filesystem;

std::string nccl_lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += fmt::format(
        "n01:4000:4100 [0] NCCL INFO Channel {:02}/0 : 0[0] -> 1[1] via P2P/CUMEM\n", i % 16);
  }
  return text;
}

/// Returns JSON as nccl-tests writes it, with the times of that many iterations for each of 30 sizes.
std::string benchmark(int iterations, const char* line_end) {
  std::string text = fmt::format(
      "{{{0}\"version\": 3,{0}\"start_time\": \"2026-03-02 04:11:09\",{0}\"args\": "
      "[\"all_reduce_perf\"],{0}"
      "\"nccl_version\": \"22706\",{0}\"config\": {{{0}\"validation\": 1,{0}\"devices\": "
      "[]{0}}},{0}\"results\": [{0}",
      line_end);
  for (int size = 0; size < 30; ++size) {
    text += fmt::format(
        "{{{0}\"size\": {1},{0}\"type\": \"float\",{0}\"out_of_place\": {{{0}\"time\": "
        "10.5,{0}\"alg_bw\": 1.0,{0}"
        "\"bus_bw\": 2.0,{0}\"nwrong\": \"0\"{0}}},{0}\"in_place\": {{{0}\"time\": "
        "10.5,{0}\"bus_bw\": 1.5{0}}},{0}"
        "\"per_iter\": {{{0}\"times_us\": [{0}",
        line_end, std::uint64_t{8} << size);
    for (int i = 0; i < iterations; ++i) {
      text += fmt::format("10.{:06}{}{}", i, i + 1 < iterations ? "," : "", line_end);
    }
    text += fmt::format("]{0}}}{0}}}{1}{0}", line_end, size < 29 ? "," : "");
  }
  return text +
         fmt::format("],{0}\"average_bus_bandwidth\": {{\"bandwidth\": 2.0}}{0}}}\n", line_end);
}

class JsonReports : public testing::Test {
 protected:
  JsonReports()
      : file_(fs::temp_directory_path() / fmt::format("ringside-json-{}.log", ::getpid())) {}
  ~JsonReports() override { fs::remove(file_); }

  Audit audit_of(const std::string& text, int threads) const {
    std::ofstream(file_, std::ios::binary) << text;
    return *audit_logs({file_.string()}, {.threads = threads});
  }

  fs::path file_;
};

// 30 sizes of 12,000 lines of 11 bytes: 4 MB, among 4 to 8 MB of other lines. With 3 threads a cut falls in it.
TEST_F(JsonReports, ReadsMultiLineReportsWholeWhereverFilesAreCut) {
  const std::string report = benchmark(12'000, "\n");
  for (const int before : {0, 60'000}) {
    const std::string text = nccl_lines(before) + report + nccl_lines(60'000);
    for (const int threads : {1, 2, 3}) {
      const Audit audit = audit_of(text, threads);
      ASSERT_EQ(audit.facts.tables.size(), 1U) << before << " lines before, threads: " << threads;
      EXPECT_EQ(audit.facts.tables[0].rows.size(), 30U);
      EXPECT_EQ(audit.where(audit.facts.tables[0].begin.lines()[0].place).line,
                static_cast<std::uint64_t>(before) + 1);
      EXPECT_TRUE(audit.parsed.problems.empty());
    }
  }
}

TEST_F(JsonReports, ReadsAReportInOneLongLine) {
  const std::string report = benchmark(20'000, "");
  ASSERT_GT(report.size(), 6'000'000U);
  const std::string text = nccl_lines(30'000) + report + nccl_lines(30'000);
  for (const int threads : {1, 3}) {
    const Audit audit = audit_of(text, threads);
    ASSERT_EQ(audit.facts.tables.size(), 1U);
    EXPECT_EQ(audit.facts.tables[0].rows.size(), 30U);
    EXPECT_EQ(audit.parsed.counts.lines, 60'001U);
    EXPECT_EQ(audit.parsed.counts.overlong, 0U);
  }
}

// 30 * 130,000 * 10 bytes: 39 MB, above the 32 MiB that are kept.
TEST_F(JsonReports, BeyondTheBoundAreNamed) {
  for (const char* line_end : {"", "\n"}) {
    const Audit audit = audit_of(nccl_lines(10) + benchmark(130'000, line_end) + nccl_lines(10), 2);
    EXPECT_TRUE(audit.facts.tables.empty());
    ASSERT_EQ(audit.parsed.problems.size(), 1U);
    EXPECT_EQ(audit.parsed.problems[0].what,
              "the JSON report from line 11 on is larger than 32 MiB");
  }
}

TEST_F(JsonReports, NamesReportsThatEndEarly) {
  const std::string report = benchmark(10, "\n");
  const Audit audit = audit_of(nccl_lines(10) + report.substr(0, report.size() / 2), 1);
  EXPECT_TRUE(audit.facts.tables.empty());
  ASSERT_EQ(audit.parsed.problems.size(), 1U);
  EXPECT_EQ(audit.parsed.problems[0].what, "the JSON report from line 11 on does not end");
}

TEST_F(JsonReports, IgnoresReportsOfOtherPrograms) {
  const Audit audit = audit_of("{\n\"epoch\": 3,\n\"loss\": [\n1.0,\n2.0\n", 1);
  EXPECT_TRUE(audit.parsed.problems.empty());
}

// Each level of the text is a call of the function that writes it: so many exhaust the stack.
TEST_F(JsonReports, IgnoresTextThatIsNestedDeeperThanAnyReport) {
  constexpr std::size_t kLevels = 1'000'000;
  const std::string text =
      R"({"nccl_version":"2.31.2","communicators":[{"hash":"0xa","size":1,"ranks":[{"rank":0,"collective_counts":)" +
      std::string(kLevels, '[') + std::string(kLevels, ']') + "}],\"missing_ranks\":[]}]}\n";
  const Audit audit = audit_of(nccl_lines(10) + text + nccl_lines(10), 1);
  EXPECT_TRUE(audit.facts.ras.empty());
  EXPECT_TRUE(audit.parsed.problems.empty());
}

// source  ecosystem-facts 2.5, 2.7: 7 is an operation in progress, 8 the timeout of 2.31
TEST_F(JsonReports, ReadsTheResultOfEachRankInRasReports) {
  const auto report = [](int init, int async) {
    return fmt::format(
        R"({{"nccl_version":"2.31.2","communicators":[{{"hash":"0xa","size":2,"ranks":[)"
        R"({{"rank":0,"status":{{"init_state":0,"async_error":0}},"collective_counts":{{"AllReduce":5}}}},)"
        R"({{"rank":1,"status":{{"init_state":{},"async_error":{}}},"collective_counts":{{"AllReduce":5}}}})"
        "],\"missing_ranks\":[]}}]}}\n",
        init, async);
  };
  const auto cause = [&](int init, int async) {
    for (const Finding& finding : audit_of(report(init, async), 1).findings) {
      if (finding.id == "system_error") return finding.cause;
    }
    return std::string{};
  };
  EXPECT_TRUE(cause(0, 8).starts_with("rank 1 of 2 holds ncclTimeout (8): ")) << cause(0, 8);
  EXPECT_TRUE(cause(2, 0).starts_with("rank 1 of 2 holds ncclSystemError (2): ")) << cause(2, 0);
  EXPECT_EQ(cause(7, 7), "");
}

// source  ecosystem-facts 2.5: events of ncclras MONITOR, as JSON with and without blanks, and as text
TEST_F(JsonReports, EventsOfRasNameTheProcessThatIsDeadOrSilent) {
  const auto json = [](const char* event) {
    return fmt::format(
        R"({{"timestamp":"2026-09-01 10:11:12","group":"TRACE","event":"PEER_{}","peer":)"
        R"({{"host":"n02","pid":71,"cuda_devs":[0],"nvml_devs":[0]}},"details":""}})"
        "\n",
        event);
  };
  const auto text = [](const char* event) {
    return fmt::format("[2026-09-01 10:11:12] PEER_{}: Process 71 on node n02 managing GPU 0\n",
                       event);
  };
  const auto worst = [&](const std::string& log) {
    const Audit audit = audit_of(log, 1);
    EXPECT_GT(audit.facts.stack_lines, 0U) << log;
    for (const Finding& finding : audit.findings) {
      if (finding.severity < Severity::Warning) continue;
      EXPECT_EQ(finding.hosts, std::vector<std::string>{"n02"}) << log;
      return finding.id;
    }
    return std::string{};
  };
  for (const auto& event : {std::function<std::string(const char*)>(json), {text}}) {
    EXPECT_EQ(worst(event("NEW") + event("DEAD")), "hang_dead_rank");
    EXPECT_EQ(worst(event("NEW") + event("UNRESPONSIVE")), "net_unreachable");
    EXPECT_EQ(worst(event("UNRESPONSIVE") + event("RECOVERED")), "");
    EXPECT_EQ(worst(event("NEW") + event("CONNECTED")), "");
  }
}

}  // namespace
}  // namespace ringside::audit
