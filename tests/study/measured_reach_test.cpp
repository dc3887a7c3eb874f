#include "study/validate/measured_reach.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "base/vocabulary.h"
#include "study/validate/published.h"
#include "study/validate/validation.h"
#include "tests/support/shared.h"

namespace ringside::study {
namespace {

/// Returns how many of the table's nodes form one node of the machine's file: the line `#: unit 18`, or 1; 0 without
/// such a file.
int unit_of(const PublishedRow& row) {
  const std::string folder = shared_folder() + "/published/machines/";
  const std::string per_node = row.system + "@" + std::to_string(row.ranks / row.nodes);
  for (const std::string& name : {per_node, row.system}) {
    std::ifstream file(folder + name + ".yaml");
    if (!file) continue;
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with("#: unit ")) return std::stoi(line.substr(8));
    }
    return 1;
  }
  return 0;
}

/// AllReduce is all_reduce.
std::string plain(std::string_view name) {
  std::string letters;
  for (const char c : name) {
    if (c != '_') letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return letters;
}

// The error bars cover the measured range: no more, and no less.
TEST(MeasuredReach, EqualsTheTable) {
  const auto published = read_published(shared_folder() + "/published");
  ASSERT_TRUE(published) << published.error().message;
  std::map<std::string, std::pair<int, int>> most;
  int of_hosts = 0;
  for (const PublishedRow& row : published->rows) {
    const int unit = unit_of(row);
    if (unit == 0 || published->system(row.system)->quality == "C") continue;
    if (is_apart({.measured = &row, .simulated = {}, .nccl = {}, .error = {}})) continue;
    auto& [one, several] = most[plain(row.collective)];
    int& here = row.nodes == unit ? one : several;
    here = std::max(here, row.ranks);
    if (unit == 1) of_hosts = std::max(of_hosts, row.ranks);
  }
  EXPECT_EQ(of_hosts, kMostMeasuredOfHosts);
  EXPECT_EQ(most.size(), measured_reaches().size());
  for (const MeasuredReach& reach : measured_reaches()) {
    const std::string name = plain(to_string(reach.collective));
    EXPECT_EQ(reach.one_node, most[name].first) << name;
    EXPECT_EQ(reach.several, most[name].second) << name;
  }
}

}  // namespace
}  // namespace ringside::study
