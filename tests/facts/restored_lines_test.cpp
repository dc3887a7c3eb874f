#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "diag/logparse/message.h"
#include "diag/logparse/paste.h"
#include "diag/logparse/row_matcher.h"
#include "diag/logparse/rows.h"

namespace ringside::facts {
namespace {

bool is_whole(std::string_view line) {
  // A line that ends with a colon announces more; an indented line belongs to the previous one.
  if (line.starts_with(' ') || line.ends_with(':') || line.find('\t') != line.npos) return false;
  return logs::RowMatcher::of_catalogue().begins(line) || logs::begins_as_message(line);
}

/// Returns lines whose first words show that a message begins: samples of both catalogues.
std::vector<std::string> whole_lines() {
  std::vector<std::string> lines;
  for (const logs::RowEntry& entry : logs::row_entries()) {
    const bool is_line = entry.kind == logs::RowEntry::Kind::Row ||
                         entry.kind == logs::RowEntry::Kind::Form ||
                         entry.kind == logs::RowEntry::Kind::Message;
    if (is_line && is_whole(entry.sample)) lines.emplace_back(entry.sample);
  }
  for (const logs::MessagePattern& pattern : logs::message_patterns()) {
    if (is_whole(pattern.sample)) lines.emplace_back(pattern.sample);
  }
  return lines;
}

TEST(RestoredLines, WholeLinesAreNotJoined) {
  const std::vector<std::string> lines = whole_lines();
  ASSERT_GT(lines.size(), 800U);
  std::mt19937 random(7);
  int joined = 0;
  int all = 0;
  for (int round = 0; round < 2'000; ++round) {
    std::string text;
    for (int i = 0; i < 6; ++i) text += lines[random() % lines.size()] + "\n";
    for (const logs::RestoredLine& line : logs::restore_paste(text)) {
      ++all;
      if (line.lines > 1) {
        ++joined;
        EXPECT_LE(joined, 5) << line.text;
      }
    }
  }
  EXPECT_EQ(joined, 0) << "of " << all << " lines";
}

}  // namespace
}  // namespace ringside::facts
