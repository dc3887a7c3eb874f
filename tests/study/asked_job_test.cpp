#include "study/asked_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/topology/host_edit.h"

namespace ringside::study {
namespace {

using testing::HasSubstr;

TEST(AskedJob, TwoHostsOfEightGpusAreSixteenRanks) {
  const Result<AskedJob> asked = load_job({.on = "dgx-h100", .nodes = 2});
  ASSERT_TRUE(asked) << asked.error().message;
  EXPECT_EQ(asked->job.nranks(), 16);
  ASSERT_EQ(asked->hosts.runs.size(), 1U);
  EXPECT_EQ(asked->hosts.runs[0].count, 2);
}

TEST(AskedJob, AVariableDecides) {
  const Result<AskedJob> asked = load_job({.on = "dgx-h100", .set = {"NCCL_MAX_NCHANNELS=4"}});
  ASSERT_TRUE(asked) << asked.error().message;
  EXPECT_EQ(asked->job.connection.shape.nchannels, 4);
}

TEST(AskedJob, AnEmptyValueUnsetsAVariable) {
  const Result<Environment> environment =
      environment_with({"NCCL_ALGO=Ring", "NCCL_PROTO=LL", "NCCL_ALGO="});
  ASSERT_TRUE(environment);
  EXPECT_EQ((*environment)("NCCL_ALGO"), std::nullopt);
  EXPECT_EQ((*environment)("NCCL_PROTO"), "LL");
}

TEST(AskedJob, WordsThatCannotBeMeantNameTheMend) {
  const Result<AskedJob> preset = load_job({.on = "dgx-h10"});
  ASSERT_FALSE(preset);
  EXPECT_THAT(preset.error().help, HasSubstr("dgx-h100"));
  const Result<AskedJob> name = load_job({.on = "dgx-h100", .set = {"NCCL_AGLO=Ring"}});
  ASSERT_FALSE(name);
  EXPECT_THAT(name.error().help, HasSubstr("did you mean 'NCCL_ALGO'?"));
  EXPECT_THAT(name.error().help, HasSubstr("docs/reference/environment.md"));
  EXPECT_LT(name.error().help.size(), 200U);
  const Result<AskedJob> setting = load_job({.on = "dgx-h100", .set = {"NCCL_ALGO"}});
  ASSERT_FALSE(setting);
  EXPECT_THAT(setting.error().message, HasSubstr("is not NAME=VALUE"));
}

TEST(AskedJob, SettingsOfHostsChangeTheHosts) {
  const auto nics = [](std::vector<std::string> set) {
    const Result<AskedJob> job = load_job({.on = "dgx-h100", .nodes = 2, .set = std::move(set)});
    EXPECT_TRUE(job) << job.error().message;
    Host host = job->hosts.runs.front().host;
    return nets_of(host).size();
  };
  EXPECT_EQ(nics({}), 8U);
  EXPECT_EQ(nics({"nics=4"}), 4U);
  EXPECT_EQ(nics({"drop_rail=0", "NCCL_ALGO=Ring"}), 7U);
  EXPECT_FALSE(load_job({.on = "dgx-h100", .set = {"nics=9"}}));
  EXPECT_FALSE(load_job({.on = "dgx-h100", .set = {"nics"}}));
}

TEST(AskedJob, WhatNoTunerAsksForIsNotParsed) {
  const JobOptions misspelt{.on = "dgx-h100", .set = {"NCCL_ALGO=Rign"}};
  EXPECT_TRUE(load_job(misspelt));
  const Result<TunedJob> tuned = load_tuned_job(misspelt);
  ASSERT_FALSE(tuned);
  EXPECT_THAT(tuned.error().help, HasSubstr("did you mean 'Ring'?"));
}

TEST(AskedJob, AHostWithoutAGpuIsNoJob) {
  const Result<AskedJob> asked = load_job({.on = "synthetic:pack:2 numa:1 core:4 pu:1"});
  ASSERT_FALSE(asked);
  EXPECT_THAT(asked.error().message, HasSubstr("has no GPU"));
  EXPECT_THAT(asked.error().help, HasSubstr("dgx-h100"));
}

TEST(AskedJob, AnUnknownVersionIsRefused) {
  EXPECT_FALSE(load_tuned_job({.on = "dgx-h100"}, "2.17"));
  const Result<TunedJob> old = load_tuned_job({.on = "dgx-h100"}, "2.19");
  ASSERT_TRUE(old) << old.error().message;
  EXPECT_EQ(old->tuner.model().patch, "2.19.4");
}

}  // namespace
}  // namespace ringside::study
