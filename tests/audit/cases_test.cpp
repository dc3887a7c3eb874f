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
#include "diag/audit/finding_types.h"
#include "diag/audit/join.h"
#include "diag/audit/shard.h"

// Small invented logs, one mechanism each, and healthy ones that hold what looks like a fault: cases/expected.txt
// says what the audit must find in each, and that it must find nothing else.

namespace ringside::audit {
namespace {

const std::filesystem::path kCases = RINGSIDE_AUDIT_CASES;

struct Wanted {
  std::vector<std::string> ids = {}, words = {};
  Severity at_least = Severity::Warning;
};
struct Case {
  std::string name;
  std::vector<Wanted> wanted = {};
  std::set<std::string> allowed = {}, forbidden = {};
};

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream rest(text);
  for (std::string part; std::getline(rest, part, at);) {
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The rows of cases/expected.txt, whose head is its grammar.
std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const std::string& line : split(text_of(kCases / "expected.txt"), '\n')) {
    if (line.starts_with('#')) continue;
    if (line.starts_with("  find ")) {
      const std::size_t tilde = line.find(" ~ ");
      Wanted wanted{split(line.substr(7, tilde - 7), '|'), split(line.substr(tilde + 3), '|')};
      cases.back().allowed.insert(wanted.ids.begin(), wanted.ids.end());
      cases.back().wanted.push_back(wanted);
    } else if (line.starts_with("  note ")) {
      const std::size_t tilde = line.find(" ~ ");
      cases.back().wanted.push_back({split(line.substr(7, tilde - 7), '|'),
                                     split(line.substr(tilde + 3), '|'), Severity::Info});
    } else if (line.starts_with("  not ")) {
      const std::vector<std::string> ids = split(line.substr(6), ' ');
      cases.back().forbidden.insert(ids.begin(), ids.end());
    } else if (line.starts_with("  may ")) {
      const std::vector<std::string> ids = split(line.substr(6), ' ');
      cases.back().allowed.insert(ids.begin(), ids.end());
    } else {
      cases.push_back({.name = line.substr(0, line.find(':'))});
    }
  }
  return cases;
}

bool says(const Finding& finding, const std::vector<std::string>& words) {
  const auto is_in = [&](const std::string& text) {
    return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
      return text.find(word) != std::string::npos;
    });
  };
  const std::vector<QuotedLine>& lines = finding.evidence.lines();
  if (lines.empty()) return is_in(finding.title);
  return std::any_of(lines.begin(), lines.end(),
                     [&](const QuotedLine& line) { return is_in(line.text); });
}

TEST(AuditCases, EachInventedLogIsJudgedAsItsTableSays) {
  for (const Case& one : all_cases()) {
    SCOPED_TRACE(one.name);
    const Audit audit = audit_text(text_of(kCases / (one.name + ".log")), one.name + ".log");
    for (const Wanted& wanted : one.wanted) {
      bool is_found = false, is_quoted = false;
      for (const Finding& finding : audit.findings) {
        const bool is_it = finding.severity >= wanted.at_least &&
                           std::any_of(wanted.ids.begin(), wanted.ids.end(),
                                       [&](const std::string& id) { return is_a(finding.id, id); });
        is_found = is_found || is_it;
        is_quoted = is_quoted || (is_it && says(finding, wanted.words));
      }
      EXPECT_TRUE(is_found) << wanted.ids.front() << " is missed";
      EXPECT_TRUE(!is_found || is_quoted) << wanted.ids.front() << " quotes other lines";
    }
    for (const Finding& finding : audit.findings) {
      const auto is_in = [&](const std::set<std::string>& ids) {
        return std::any_of(ids.begin(), ids.end(),
                           [&](const std::string& id) { return is_a(finding.id, id); });
      };
      EXPECT_FALSE(is_in(one.forbidden)) << "forbidden: " << finding.id;
      if (finding.severity < Severity::Warning) continue;
      EXPECT_TRUE(is_in(one.allowed)) << "false alarm: " << finding.id;
    }
  }
}

/// The same bytes, read as several shards that end where the parts of the text do.
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

// Processes, communicators and tables of which each part holds a piece are one job all the same.
TEST(AuditCases, AreJudgedAlikeHoweverTheyAreCutIntoShards) {
  for (const Case& one : all_cases()) {
    SCOPED_TRACE(one.name);
    if (one.name.find("json") != std::string::npos) continue;  // logs are not cut there
    // Half a script or half a page does not say what it is.
    if (one.name.find("no-log") != std::string::npos) continue;
    const std::string text = text_of(kCases / (one.name + ".log"));
    const std::string_view whole = text;
    const std::set<std::string> expected = ids_of(std::array{whole});
    for (const std::size_t third : {1U, 2U}) {
      const std::size_t at = text.find('\n', text.size() * third / 3) + 1;
      EXPECT_EQ(ids_of(std::array{whole.substr(0, at), whole.substr(at)}), expected) << third;
    }
  }
}

TEST(AuditCases, EachInventedLogHasARowInTheTable) {
  std::set<std::string> rows, logs;
  for (const Case& one : all_cases()) rows.insert(one.name);
  for (const auto& entry : std::filesystem::directory_iterator(kCases)) {
    if (entry.path().extension() == ".log") logs.insert(entry.path().stem().string());
  }
  EXPECT_EQ(rows, logs);
  EXPECT_GE(rows.size(), 240U);
}

}  // namespace
}  // namespace ringside::audit
