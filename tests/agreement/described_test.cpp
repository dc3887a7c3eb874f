#include "tests/agreement/described.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace ringside::oracle {
namespace {

// Needs no golden files, as it has the digests of NCCL's answers. ringside_agreement, which reads the golden files,
// reports which value differs.
TEST(DescribedNodes, EveryAnswerHasTheDigestOfNccls) {
  const std::vector<DescribedJob> jobs = described_jobs();
  EXPECT_GE(jobs.size(), 160U);
  for (const DescribedJob& asked : jobs) {
    SCOPED_TRACE(asked.name);
    const Job job = solve(asked);
    const auto tuner = Tuner::make(job.connection.shape, {});
    ASSERT_TRUE(tuner) << tuner.error().message;
    for (const Part part : kParts) {
      const Digest ours = digest_of(without_guids(our_part(job, *tuner, part)));
      const Digest& nccl = asked.nccl[static_cast<std::size_t>(part)];
      EXPECT_TRUE(is_same(ours, nccl))
          << to_string(part) << ": NCCL's " << to_text(nccl) << ", ours " << to_text(ours);
    }
  }
}

Json answer() {
  return Json::parse(
      R"({"rings": [[0, 1, 2]], "algo": "Ring", "timeUs": 25.20048, "bw": [48, 24]})");
}

TEST(Digest, ChangesWithAnyNumberAndWordAndWithTheirOrder) {
  const Digest digest = digest_of(answer());
  EXPECT_EQ(digest.values, 7U);
  const auto differs = [&](const char* pointer, const Json& value) {
    Json other = answer();
    other[Json::json_pointer{pointer}] = value;
    return !is_same(digest, digest_of(other));
  };
  EXPECT_TRUE(differs("/rings/0", Json::parse("[0, 2, 1]")));
  EXPECT_TRUE(differs("/rings/0", Json::parse("[0, 1, 2, 3]")));
  EXPECT_TRUE(differs("/rings", Json::parse("[[0, 1], [2]]")));
  EXPECT_TRUE(differs("/algo", "Tree"));
  EXPECT_TRUE(differs("/algo", nullptr));
  EXPECT_TRUE(differs("/timeUs", 25.23));
  EXPECT_TRUE(differs("/timeUs", "25.20048"));
  EXPECT_TRUE(differs("/bw", Json::parse("[24, 48]")));
  EXPECT_TRUE(differs("/bw", Json::parse("[48, 0]")));
}

TEST(Digest, IsTheSameForAnotherLastDigitAndAnotherOrderOfKeys) {
  Json other = Json::parse(
      R"({"bw": [48.000001, 24], "algo": "Ring", "timeUs": 25.200481, "rings": [[0, 1, 2]]})");
  EXPECT_TRUE(is_same(digest_of(answer()), digest_of(other)));
}

TEST(Digest, ReadsBackAsPrinted) {
  const Digest digest = digest_of(answer());
  EXPECT_TRUE(is_same(parse_digest(to_text(digest)), digest));
  EXPECT_THROW(parse_digest("9:xyz"), std::runtime_error);
}

}  // namespace
}  // namespace ringside::oracle
