#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/hangdetect/score.h"

namespace ringside::hang {
namespace {

std::vector<Scored> score_all(const std::string& set) {
  std::vector<Scored> all;
  for (const std::string& folder : corpus_cases(set)) {
    all.push_back(score(folder, load_label(folder + "/label.json")));
  }
  return all;
}

TEST(HangCorpus, TheLabelledCulpritsOfEveryClusterDumpAreFound) {
  for (const Scored& one : score_all("fr")) {
    EXPECT_TRUE(one.is_culprit_right) << line_of(one);
    EXPECT_TRUE(one.is_kind_right) << line_of(one);
  }
}

TEST(HangCorpus, RealRunsAreBlamedOnAnAcceptableSetInNineteenOfTwenty) {
  std::size_t right = 0;
  std::size_t kinds = 0;
  const std::vector<Scored> all = score_all("fr-torch");
  std::string wrong;
  for (const Scored& one : all) {
    right += one.is_culprit_right ? 1U : 0U;
    kinds += one.is_kind_right ? 1U : 0U;
    if (!one.is_culprit_right || !one.is_kind_right) wrong += "\n  " + line_of(one);
  }
  EXPECT_GE(static_cast<double>(right), 0.98 * static_cast<double>(all.size())) << wrong;
  EXPECT_GE(static_cast<double>(kinds), 0.98 * static_cast<double>(all.size())) << wrong;
}

TEST(HangCorpus, NoHealthyRunIsAccused) {
  for (const Scored& one : score_all("fr-torch")) {
    if (one.label.kind == "not_a_hang") {
      EXPECT_TRUE(one.culprits.empty()) << line_of(one);
    }
  }
}

TEST(HangCorpus, NoVerdictIsConfidentAndWrong) {
  for (const Scored& one : score_all("fr-torch"))
    EXPECT_FALSE(one.is_confident_wrong()) << line_of(one);
}

/// A copy of a case without the dump of one rank; the folder goes with the object.
class CaseWithout {
 public:
  CaseWithout(const std::string& folder, int rank)
      : folder_(std::filesystem::temp_directory_path() /
                ("ringside-hang-" +
                 std::to_string(::testing::UnitTest::GetInstance()->random_seed()) + "-" +
                 std::filesystem::path(folder).filename().string())) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    const std::string lost = "comm_lib_trace_rank_" + std::to_string(rank);
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      const std::string name = entry.path().filename().string();
      if (name != lost && name != lost + ".json") {
        std::filesystem::create_symlink(entry.path(), folder_ / name);
      }
    }
  }
  ~CaseWithout() { std::filesystem::remove_all(folder_); }
  CaseWithout(const CaseWithout&) = delete;
  CaseWithout& operator=(const CaseWithout&) = delete;
  [[nodiscard]] std::string path() const { return folder_.string(); }

 private:
  std::filesystem::path folder_;
};

// An innocent rank's dump is taken away: the verdict may become unsure, and must not become surely wrong.
TEST(HangCorpus, ALostDumpOfAnInnocentRankMakesNoVerdictConfidentAndWrong) {
  for (const std::string& folder : corpus_cases("fr-torch")) {
    const Label label = load_label(folder + "/label.json");
    if (label.exact.empty()) continue;
    const int innocent = label.exact.front() == 0 ? 1U : 0U;
    const CaseWithout less(folder, innocent);
    const Scored one = score(less.path(), label);
    EXPECT_FALSE(one.confidence >= 0.9 && !one.is_culprit_right)
        << "without rank " << innocent << ": " << line_of(one);
  }
}

}  // namespace
}  // namespace ringside::hang
