#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "diag/audit/audit.h"
#include "diag/audit/join.h"
#include "diag/audit/shard.h"

// Small invented logs with one mechanism each, and healthy logs that contain something like a fault.

namespace ringside::audit {
namespace {

const std::filesystem::path kCases = RINGSIDE_AUDIT_CASES;

/// cases/expected.txt has the finding that audit must report for each: ringside_diag_baseline compares.
std::vector<std::filesystem::path> all_cases() {
  std::vector<std::filesystem::path> cases;
  for (const auto& entry : std::filesystem::directory_iterator(kCases)) {
    if (entry.path().extension() == ".log") cases.push_back(entry.path());
  }
  return cases;
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Returns the findings for the same bytes, read as several shards that end where the parts of the text do.
std::set<std::string> ids_of(std::span<const std::string_view> parts) {
  std::vector<std::unique_ptr<Shard>> shards;
  std::string before;  // lines are numbered through, as the pieces of a file are
  for (const std::string_view part : parts) {
    shards.push_back(std::make_unique<Shard>());
    parse_text(before + std::string(part), *shards.back());
    before +=
        std::string(static_cast<std::size_t>(std::count(part.begin(), part.end(), '\n')), '\n');
  }
  std::set<std::string> ids;
  for (const Finding& finding : judge(join_shards(std::move(shards)))) {
    if (finding.severity >= Severity::Warning) ids.insert(finding.id);
  }
  return ids;
}

// Processes, communicators and tables that are split over all parts must still give one job.
TEST(AuditCases, AreJudgedEquallyForAnyDivisionIntoShards) {
  const auto cases = all_cases();
  ASSERT_GE(cases.size(), 200U);
  for (const std::filesystem::path& path : cases) {
    const std::string name = path.stem().string();
    SCOPED_TRACE(name);
    if (name.find("json") != std::string::npos) continue;  // logs are not cut there
    // Half a script or half a page cannot be recognised.
    if (name.find("no-log") != std::string::npos) continue;
    const std::string text = text_of(path);
    const std::string_view whole = text;
    const std::set<std::string> expected = ids_of(std::array{whole});
    for (const std::size_t third : {1U, 2U}) {
      const std::size_t at = text.find('\n', text.size() * third / 3) + 1;
      EXPECT_EQ(ids_of(std::array{whole.substr(0, at), whole.substr(at)}), expected) << third;
    }
  }
}

}  // namespace
}  // namespace ringside::audit
