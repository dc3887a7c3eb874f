#include "harness/scenario/schema.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>

#include "base/fd.h"
#include "harness/scenario/workload.h"

namespace ringside {
namespace {

constexpr const char* kBegin = "<!-- written from the schema in code -->\n";
constexpr const char* kEnd = "<!-- end -->\n";

// RINGSIDE_UPDATE=1 writes them anew.
TEST(Schema, TheTablesOfTheDocumentAreTheSchemas) {
  const std::string path = RINGSIDE_SCENARIOS "/../docs/reference/scenarios.md";
  const auto text = read_file(path);
  ASSERT_TRUE(text) << text.error().message;
  const auto begin = text->find(kBegin);
  const auto end = text->find(kEnd);
  ASSERT_NE(begin, std::string::npos);
  ASSERT_NE(end, std::string::npos);
  const std::string whole =
      text->substr(0, begin) + kBegin + "\n" + schema_tables() + "\n" + text->substr(end);
  if (std::getenv("RINGSIDE_UPDATE") != nullptr) std::ofstream(path) << whole;
  EXPECT_EQ(*text, whole) << "RINGSIDE_UPDATE=1 writes it anew";
}

// Exactly the keys that a workload accepts are explained.
TEST(Schema, EveryKeyOfAWorkloadIsExplained) {
  std::set<std::string_view> taken;
  for (const WorkloadKind& kind : workload_kinds())
    taken.insert(kind.keys.begin(), kind.keys.end());
  const std::vector<std::string_view> names = names_of(workload_keys());
  EXPECT_EQ(std::set<std::string_view>(names.begin(), names.end()), taken);
  std::set<std::string_view> of_steps;
  for (const hangs::SchemaStep& step : hangs::step_schema()) {
    of_steps.insert(step.keys.begin(), step.keys.end());
  }
  const std::vector<std::string_view> explained = names_of(hangs::step_keys());
  EXPECT_EQ(std::set<std::string_view>(explained.begin(), explained.end()), of_steps);
}

}  // namespace
}  // namespace ringside
