#include "study/calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringside::study {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Calls, WordsBecomeACollectiveInEachSize) {
  const Result<Calls> calls = parse_calls(
      {.collective = "all_gather", .sizes = "1K:16K:4", .type = "bfloat16", .op = "max"});
  ASSERT_TRUE(calls) << calls.error().message;
  EXPECT_EQ(calls->collective, Collective::AllGather);
  EXPECT_EQ(calls->type, DataType::Bfloat16);
  EXPECT_EQ(calls->op, RedOp::Max);
  EXPECT_THAT(calls->sizes, ElementsAre(1_KiB, 4_KiB, 16_KiB));
  EXPECT_EQ(calls->at(4_KiB).bytes, 4_KiB);
  EXPECT_EQ(calls->at(4_KiB).collective, Collective::AllGather);
}

TEST(Calls, UnknownWordsNameTheNearest) {
  const auto refusal = [](const CallWords& words) {
    const Result<Calls> calls = parse_calls(words);
    return calls ? std::string("accepted") : calls.error().message + ": " + calls.error().help;
  };
  EXPECT_THAT(refusal({.collective = "all_gatehr"}), HasSubstr("did you mean 'all_gather'?"));
  EXPECT_THAT(refusal({.collective = "reduce", .type = "flaot"}),
              HasSubstr("did you mean 'float'?"));
  EXPECT_THAT(refusal({.collective = "reduce", .op = "agv"}), HasSubstr("did you mean 'avg'?"));
  EXPECT_THAT(refusal({.collective = "reduce", .sizes = "1M:2"}), HasSubstr("the first is larger"));
  EXPECT_NE(refusal({.collective = "reduce", .sizes = ""}), "accepted");
}

}  // namespace
}  // namespace ringside::study
