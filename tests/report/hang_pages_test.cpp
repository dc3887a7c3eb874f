#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "diag/hangdetect/model/job.h"
#include "diag/hangdetect/readers/log_facts.h"
#include "diag/hangdetect/verdict/decide.h"
#include "diag/report/hang_report.h"
#include "tests/diag/labelled_hangs.h"

namespace ringside::hang {
namespace {

using testing::HasSubstr;

/// The content of the page's last code block.
std::string example_of(std::string_view page) {
  const std::size_t head = page.find("## Example");
  const std::size_t open = page.find("```\n", head);
  const std::size_t end = page.find("\n```", open + 4);
  return std::string(page.substr(open + 4, end + 1 - open - 4));
}

TEST(HangPages, EachKindHasAPageWithAdvice) {
  for (int i = 0; i <= static_cast<int>(Kind::Unknown); ++i) {
    const std::string kind = to_string(static_cast<Kind>(i));
    const auto page = page_of(kind);
    ASSERT_TRUE(page) << kind;
    for (const char* part : {"## What it means", "## How to confirm", "## How to fix",
                             "## When it is a false alarm", "## Example"}) {
      EXPECT_THAT(std::string(*page), HasSubstr(part)) << kind;
    }
  }
}

// The example is the first thing that a reader tries.
TEST(HangPages, TheExampleOfEachIsFoundToBeOfItsKind) {
  for (int i = 0; i <= static_cast<int>(Kind::Unknown); ++i) {
    const std::string kind = to_string(static_cast<Kind>(i));
    const std::string example = example_of(page_of(kind).value());
    if (example.starts_with("$ ")) continue;  // dumps, which the command makes
    const ScoredHang scored =
        score({.id = kind, .kinds = {kind}, .files = {{"example.log", example}}});
    EXPECT_EQ(scored.kind, kind) << scored.why << "\n" << example;
  }
}

TEST(HangPages, AKindThatThereIsNotIsAnErrorThatNamesThoseThatThereAre) {
  const auto page = page_of("stuck");
  ASSERT_FALSE(page);
  EXPECT_THAT(page.error().help, HasSubstr("missing_rank"));
}

}  // namespace
}  // namespace ringside::hang
