#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "harness/hangs/generate.h"
#include "tests/hangdetect/score.h"

namespace ringside::hang {
namespace {

/// Cases made up for this test, in a folder that goes with it.
class MadeUp {
 public:
  MadeUp(int cases, std::uint64_t seed, int lost_percent)
      : folder_(std::filesystem::temp_directory_path() /
                ("ringside-made-up-" + std::to_string(::getpid()) + "-" +
                 std::to_string(lost_percent))) {
    std::filesystem::remove_all(folder_);
    hangs::GenerateOptions options;
    options.cases = cases;
    options.seed = seed;
    options.each.lost_percent = lost_percent;
    options.each.ranks = 8;
    const auto made = hangs::generate(options, folder_.string());
    if (!made) throw std::runtime_error(made.error().message);
  }
  ~MadeUp() { std::filesystem::remove_all(folder_); }
  MadeUp(const MadeUp&) = delete;
  MadeUp& operator=(const MadeUp&) = delete;

  [[nodiscard]] std::vector<Scored> score_all() const {
    std::vector<Scored> all;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      all.push_back(
          score(entry.path().string(), load_label((entry.path() / "truth.json").string())));
    }
    return all;
  }

 private:
  std::filesystem::path folder_;
};

void expect_right(const std::vector<Scored>& all, double share) {
  std::size_t right = 0;
  std::string wrong;
  for (const Scored& one : all) {
    right += one.is_culprit_right ? 1U : 0U;
    if (!one.is_culprit_right) wrong += "\n  " + line_of(one);
    if (one.label.kind == "not_a_hang") {
      EXPECT_TRUE(one.culprits.empty()) << line_of(one);
    }
  }
  EXPECT_GE(static_cast<double>(right), share * static_cast<double>(all.size())) << wrong;
}

TEST(HangGenerated, AllClassesWithAllDumpsAreBlamedRight) {
  expect_right(MadeUp(52, 7, 0).score_all(), 0.92);
}

TEST(HangGenerated, WithFourTenthsOfTheFilesLostMostAreStillRight) {
  expect_right(MadeUp(52, 7, 40).score_all(), 0.80);
}

}  // namespace
}  // namespace ringside::hang
