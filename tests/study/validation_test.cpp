#include "study/validate/validation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/study/published_folder.h"

namespace ringside::study {
namespace {

using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

class ValidationTest : public testing::Test {
 protected:
  void SetUp() override { write_published(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] ValidationQuestion question() const {
    return {.published = folder_.string(), .machines = (folder_ / "machines").string()};
  }

  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) /
      ("published_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
};

TEST_F(ValidationTest, ScoresDescribedRowsAndNamesSkippedOnes) {
  const auto validation = validate(question());
  ASSERT_TRUE(validation) << validation.error().message;
  ASSERT_EQ(validation->rows.size(), 2U);
  for (const ScoredRow& row : validation->rows) {
    ASSERT_TRUE(row.simulated) << row.error;
    EXPECT_TRUE(row.nccl);
    EXPECT_GT(*row.simulated / row.measured->time, 0.3);
    EXPECT_LT(*row.simulated / row.measured->time, 3);
  }
  EXPECT_THAT(validation->skipped, UnorderedElementsAre(Pair("guessed", "quality C"),
                                                        Pair("unknown", "no machine file")));
  ASSERT_EQ(validation->systems.size(), 1U);
  const ErrorSummary& small = validation->systems[0].simulated[0];
  EXPECT_EQ(small.rows, 1);
  EXPECT_DOUBLE_EQ(small.median, std::abs(small.bias));
  EXPECT_DOUBLE_EQ(small.bias,
                   *validation->rows[0].simulated / validation->rows[0].measured->time - 1);
  EXPECT_EQ(validation->simulated[1].rows, 0);
}

// 64 KiB on two H100: 2.18 takes Tree, 2.27 Ring; a row without a version is predicted with the system's.
TEST_F(ValidationTest, EachRowIsPredictedWithTheReleaseThatWasMeasured) {
  const std::string row = "two-h100,AllReduce,2,1,auto,auto,,float,oop,65536,12.5,";
  write_published(folder_, row + "2.18.5,\n" + row + "2.27.7 + tuner,\n" + row + "not stated,\n");
  std::ofstream(folder_ / "systems.csv") << "system_id,nccl,network,tool,quality\n"
                                            "two-h100,2.18.6,\"none, one node\",nccl-tests -g 1,A\n"
                                            "guessed,,none,?,C\n"
                                            "unknown,,none,?,A\n";
  const auto validation = validate(question());
  ASSERT_TRUE(validation) << validation.error().message;
  ASSERT_EQ(validation->rows.size(), 5U);
  const auto predicted = [&](const std::string& version) {
    for (const ScoredRow& one : validation->rows) {
      if (one.measured->bytes == 64_KiB && one.measured->nccl == version) return one.nccl->count();
    }
    return 0.0;
  };
  EXPECT_GT(predicted("2.18.5"), 0);
  EXPECT_NE(predicted("2.18.5"), predicted("2.27.7 + tuner"));
  EXPECT_EQ(predicted("2.18.5"), predicted("not stated"));
}

TEST_F(ValidationTest, APartThatNoNameHasIsRefused) {
  ValidationQuestion asked = question();
  asked.only = "two-h10";
  EXPECT_TRUE(validate(asked));
  asked.only = "tow-h100";
  const auto refused = validate(asked);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("--only tow-h100: no system"));
  EXPECT_THAT(refused.error().help, HasSubstr("did you mean 'two-h100'"));
}

TEST_F(ValidationTest, AnotherLibrarysRowsAreInNoMedian) {
  write_published(folder_, "two-h100,AllReduce,2,1,auto,auto,,float,oop,1024,1,RCCL 2.27,\n");
  const auto validation = validate(question());
  ASSERT_TRUE(validation) << validation.error().message;
  EXPECT_EQ(validation->systems.size(), 2U);
  EXPECT_EQ(validation->simulated[0].rows, 1);
}

TEST_F(ValidationTest, ARowThatCannotBeSimulatedCountsAsFailed) {
  write_published(folder_, "two-h100,AllReduce,2,1,Spiral,auto,,float,oop,2048,1,2.27,\n");
  const auto validation = validate(question());
  ASSERT_TRUE(validation) << validation.error().message;
  EXPECT_EQ(validation->simulated[0].failed, 1);
  EXPECT_THAT(validation->rows.back().error, HasSubstr("Spiral"));
}

TEST_F(ValidationTest, ARowOfOtherRanksThanTheMachineIsNotScored) {
  write_published(folder_, "two-h100,AllReduce,16,1,auto,auto,,float,oop,2048,1,2.27,\n");
  const auto validation = validate(question());
  ASSERT_TRUE(validation) << validation.error().message;
  EXPECT_THAT(validation->rows.back().error, HasSubstr("has 2 ranks here, the row has 16"));
}

TEST_F(ValidationTest, BadTablesNameTheLineAndTheColumn) {
  const auto with = [&](const std::string& row) {
    write_published(folder_, row);
    return validate(question());
  };
  const auto unknown = with("nobody,AllReduce,2,1,auto,auto,,float,oop,1024,1,2.27,\n");
  EXPECT_THAT(unknown.error().message, HasSubstr("measured.csv:6: no system 'nobody'"));
  for (const char* time : {"fast", "0", "-1", "nan", "inf", ""}) {
    const auto bad =
        with("two-h100,AllReduce,2,1,auto,auto,,float,oop,1024," + std::string(time) + ",2.27,\n");
    ASSERT_FALSE(bad) << time;
    EXPECT_EQ(bad.error().code, ErrorCode::Corrupt);
    EXPECT_THAT(bad.error().message, HasSubstr("measured.csv:6: time_us")) << time;
  }
  EXPECT_THAT(with("two-h100,AllReduce\n").error().message, HasSubstr("measured.csv"));
  std::filesystem::remove(folder_ / "measured.csv");
  EXPECT_EQ(validate(question()).error().code, ErrorCode::NotFound);
}

TEST_F(ValidationTest, WithoutARowItNamesTheMachines) {
  ValidationQuestion nothing = question();
  nothing.machines = "/nowhere";
  EXPECT_THAT(validate(nothing).error().help, HasSubstr("SYSTEM.yaml"));
  nothing.fidelity = "chunky";
  EXPECT_THAT(validate(nothing).error().message, HasSubstr("chunky"));
}

}  // namespace
}  // namespace ringside::study
