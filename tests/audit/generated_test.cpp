#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "diag/audit/audit.h"
#include "engine/releases/releases.h"
#include "engine/topology/sources/load_hosts.h"
#include "harness/logs/log_files.h"
#include "harness/logs/log_job.h"
#include "harness/logs/misconfiguration.h"
#include "tests/audit/generated_grid.h"

namespace ringside::grid {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

// Each log is generated from a known truth by code that the reader does not share. Every misconfiguration
// is in the grid, of which this takes a cell in 47; ringside_audit_grid runs them all.

TEST(GeneratedLogs, AreAuditedToTheInjectedCauseAndNothingElse) {
  const std::vector<Cell> all = all_cells();
  for (std::size_t i = 0; i < all.size(); i += 47) {
    const Outcome outcome = audit(all[i]);
    const std::string name = all[i].hosts + " x " + std::to_string(all[i].nodes) + ", NCCL " +
                             all[i].version + ", " + all[i].misconfiguration;
    EXPECT_THAT(outcome.missed, IsEmpty()) << name;
    EXPECT_THAT(outcome.extra, IsEmpty()) << name;
  }
}

TEST(GeneratedLogs, WithEverySubsystemTheVerdictIsTheSame) {
  for (const char* name : {"", "gdr", "p2p", "socket", "lost-nic", "ib-error"}) {
    for (const char* version : {"2.18", "2.24", "2.30", "2.31"}) {
      const Outcome outcome = audit({"dgx-h100", 2, version, name, "INIT,ENV,GRAPH,NET,BOOTSTRAP"});
      EXPECT_THAT(outcome.missed, IsEmpty()) << version << ' ' << name;
      EXPECT_THAT(outcome.extra, IsEmpty()) << version << ' ' << name;
    }
  }
}

struct Judged {
  audit::Audit audit;
  LogTruth nature;  ///< findings that such hosts always have
};

// dgx-1v has GPUs that copy to each other through a third: those edges are skipped, which is no failure.
TEST(GeneratedLogs, DiagnosticsOfHealthyJobsAreQuietAndThoseOfUnlikeRanksAreNot) {
  const auto diagnosed = [](const char* preset, const char* misconfiguration) {
    LogRequest request;
    request.hosts = *load_hosts(preset, 2, std::nullopt);
    request.settings = {{"NCCL_RUN_DIAGNOSTICS", "1"}, {"NCCL_RUN_RAS_DIAGNOSTICS", "1"}};
    LogTruth truth;
    if (*misconfiguration != 0) truth = *misconfigure(misconfiguration, request);
    const auto job = LogJob::make(request);
    std::istringstream log(joined_log(*job));
    std::string lines;
    for (std::string line; std::getline(log, line);) {
      if (line.find(" NCCL DIAG ") != std::string::npos) lines += line + "\n";
    }
    return lines;
  };
  for (const char* const preset : {"dgx-h100", "dgx-1v", "2x-l4", "gh200"}) {
    const std::string lines = diagnosed(preset, "");
    EXPECT_THAT(lines, HasSubstr("[OK]   GPU inventory: ")) << preset;
    const audit::Audit judged = audit::audit_text(lines, "job.log");
    EXPECT_THAT(judged.findings, IsEmpty()) << preset << '\n' << lines;
  }
  EXPECT_THAT(diagnosed("dgx-1v", ""), HasSubstr("skipped indirect="));
  for (const char* const broken : {"nvlink", "env"}) {
    const audit::Audit judged = audit::audit_text(diagnosed("dgx-h100", broken), "job.log");
    ASSERT_FALSE(judged.findings.empty()) << broken;
    EXPECT_GE(judged.findings.front().severity, audit::Severity::Warning) << broken;
  }
}

/// The log of a job with GRAPH lines, audited.
Judged audit_with_graphs(const char* preset, const std::string& version,
                         const std::string& most_channels = {}) {
  LogRequest request;
  request.hosts = *load_hosts(preset, 2, std::nullopt);
  request.version = *parse_nccl_version(version);
  request.shown = *parse_subsystems("INIT,ENV,GRAPH");
  if (!most_channels.empty()) {
    request.settings = {{"NCCL_MAX_NCHANNELS", most_channels}};
    request.environment = [most_channels](const char* name) -> std::optional<std::string> {
      if (std::string_view{name} == "NCCL_MAX_NCHANNELS") return most_channels;
      return std::nullopt;
    };
  }
  const auto job = LogJob::make(request);
  Judged judged{audit::audit_text(joined_log(*job), "job.log"), {}};
  add_nature(*job, judged.nature);
  return judged;
}

std::vector<std::string> troubles_of(const Judged& judged) {
  std::vector<std::string> troubles;
  for (const audit::Finding& finding : judged.audit.findings) {
    const bool is_natural = std::ranges::count(judged.nature.consequences, finding.id) > 0;
    if (finding.severity < audit::Severity::Warning || is_natural) continue;
    troubles.push_back(finding.id + ": " + finding.title);
  }
  return troubles;
}

// Channels, graphs and hosts differ from release to release; each release is expected to log its own.
TEST(GeneratedLogs, AreJudgedByTheReleaseThatWroteThem) {
  // Each release on one of the presets, one after the other: the grid has all on all.
  constexpr std::array kPresets{"dgx-h100", "dgx-a100", "dgx-1v", "perlmutter-a100", "gh200"};
  std::vector<std::string> versions;
  std::ranges::copy(release_versions(), std::back_inserter(versions));
  std::ranges::copy(release_patches(), std::back_inserter(versions));
  for (std::size_t i = 0; i < versions.size(); ++i) {
    const char* const preset = kPresets[i % kPresets.size()];
    EXPECT_THAT(troubles_of(audit_with_graphs(preset, versions[i])), IsEmpty())
        << preset << ", NCCL " << versions[i];
  }
}

// 8 channels where DGX H100 has 16 or more, in every release; the title says which.
TEST(GeneratedLogs, WithHalfTheChannelsAreFoundInEveryRelease) {
  for (const std::string version : {"2.18", "2.21", "2.27", "2.31"}) {
    const audit::Audit judged = audit_with_graphs("dgx-h100", version, "8").audit;
    ASSERT_TRUE(judged.has("few_channels", audit::Severity::Warning)) << version;
    const auto finding = std::ranges::find(judged.findings, "few_channels", &audit::Finding::id);
    EXPECT_THAT(finding->title, HasSubstr("8 channels where ")) << version;
    EXPECT_THAT(finding->title, HasSubstr("NCCL " + version)) << version;
    EXPECT_THAT(finding->fix, HasSubstr("NCCL_MAX_NCHANNELS")) << version;
  }
}

}  // namespace
}  // namespace ringside::grid
