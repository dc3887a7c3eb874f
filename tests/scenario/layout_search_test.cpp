#include "harness/scenario/layout_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringside {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const WorkloadKeys kJob{
    {"model", "llama3-70b"}, {"sequence", "8192"},        {"gpu", "h100"}, {"efficiency", "0.5"},
    {"tensor", "8"},         {"pipeline", "4"},           {"data", "16"},  {"microbatches", "32"},
    {"zero", "yes"},         {"sequence_parallel", "yes"}};

WorkloadKeys keys_with(const std::string& key, const std::string& value) {
  WorkloadKeys keys = kJob;
  keys[key] = value;
  return keys;
}

TEST(LayoutSearch, KeepsRanksAndSequencesAndDropsWhatDoesNotFit) {
  const auto found = find_layouts("megatron", kJob, 8);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_THAT(found->fitting, Contains("t8 p4 d16"));
  EXPECT_THAT(found->fitting, Not(Contains("t1 p1 d512")));
  EXPECT_GT(found->too_large, 0);
  for (const std::string& layout : found->fitting) {
    const auto keys = with_layout("megatron", kJob, layout);
    ASSERT_TRUE(keys) << keys.error().message;
    const auto number = [&](const char* key) { return std::stoi(keys->at(key)); };
    EXPECT_EQ(number("tensor") * number("pipeline") * number("data"), 512) << layout;
    EXPECT_EQ(number("data") * number("microbatches"), 512) << layout;
    const auto facts = training_facts("megatron", *keys);
    ASSERT_TRUE(facts) << layout;
    EXPECT_LE((*facts)->memory.total(), 80e9) << layout;
    EXPECT_THAT((*facts)->notes, IsEmpty()) << layout;  // layers divide
  }
}

TEST(LayoutSearch, TensorStaysWithinAnNvlinkDomain) {
  const auto found = find_layouts("megatron", kJob, 4);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_THAT(found->fitting, Not(Contains(HasSubstr("t8"))));
}

TEST(LayoutSearch, ReportsTheMemoryIfNoLayoutFits) {
  const auto found = find_layouts("megatron", keys_with("gpu_memory_gb", "10"), 8);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_THAT(found->fitting, IsEmpty());
  EXPECT_THAT(found->refusal, HasSubstr("GB a GPU of 10.0 GB"));
}

TEST(LayoutSearch, RefusesOtherJobs) {
  EXPECT_THAT(find_layouts("fsdp", kJob, 8).error().help, HasSubstr("megatron and moe"));
  EXPECT_THAT(find_layouts("megatron", keys_with("model", "llama9"), 8).error().message,
              HasSubstr("llama9"));
  EXPECT_THAT(with_layout("megatron", kJob, "t8").error().message, HasSubstr("layout 't8'"));
  EXPECT_THAT(with_layout("megatron", kJob, "t8 p4 d8").error().message, HasSubstr("256 ranks"));
}

}  // namespace
}  // namespace ringside
