#include "study/asked_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/topology/host_edit.h"
#include "study/idle_variables.h"

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

TEST(AskedJob, TheSmallestJobHasNeitherTheNodesNorTheGpusOfTheOptions) {
  for (const JobOptions& options :
       {JobOptions{.on = "dgx-h100", .nodes = 4}, JobOptions{.on = "dgx-h100", .gpus = 32}}) {
    const Result<AskedJob> asked = load_job(smallest_job(options));
    ASSERT_TRUE(asked) << asked.error().message;
    EXPECT_EQ(asked->job.nranks(), 8);
  }
}

TEST(AskedJob, AVariableDecides) {
  const Result<AskedJob> asked = load_job({.on = "dgx-h100", .set = {"NCCL_MAX_NCHANNELS=4"}});
  ASSERT_TRUE(asked) << asked.error().message;
  EXPECT_EQ(asked->job.connection.shape.nchannels, 4);
}

TEST(AskedJob, InvalidWordsAreErrorsWithTheFix) {
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

TEST(AskedJob, ParsesTuningVariablesOnlyForATuner) {
  const JobOptions misspelt{.on = "dgx-h100", .set = {"NCCL_ALGO=Rign"}};
  EXPECT_TRUE(load_job(misspelt));
  const Result<TunedJob> tuned = load_tuned_job(misspelt);
  ASSERT_FALSE(tuned);
  EXPECT_THAT(tuned.error().help, HasSubstr("did you mean 'Ring'?"));
}

TEST(AskedJob, RefusesAHostWithoutAGpu) {
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

TEST(AskedJob, GpusAreCountedInNodesOrInEvenPartsOfDomains) {
  EXPECT_EQ(load_job({.on = "dgx-h100", .gpus = 32})->job.nranks(), 32);
  const auto racks = load_job({.on = "gb200", .gpus = 128});
  ASSERT_TRUE(racks) << racks.error().message;
  EXPECT_EQ(racks->job.nranks(), 128);
  EXPECT_EQ(racks->hosts.hosts_per_nvl_domain, 16);  // 18 would be 144
  EXPECT_EQ(load_job({.on = "gb200", .gpus = 64})->job.nranks(), 64);
  const auto odd = load_job({.on = "dgx-h100", .gpus = 30});
  ASSERT_FALSE(odd);
  EXPECT_THAT(odd.error().help, HasSubstr("--gpus 24"));
  EXPECT_THAT(load_job({.on = "dgx-h100", .nodes = 4, .gpus = 32}).error().message,
              HasSubstr("--nodes as well"));
}

TEST(AskedJob, AFabricByAWord) {
  const auto asked = load_job({.on = "dgx-h100", .nodes = 8, .fabric = "leaf_spine:2:1"});
  ASSERT_TRUE(asked) << asked.error().message;
  ASSERT_TRUE(asked->fabric);
  const FabricSettings& fabric = asked->fabric->fabric->settings();
  EXPECT_EQ(fabric.oversubscription, 2);
  EXPECT_EQ(fabric.hosts_per_leaf, 4);  // 32 ports, 8 NICs a host
  EXPECT_EQ(asked->job.nranks(), 64);
  const auto rails = load_job(
      {.on = "dgx-h100", .nodes = 8, .set = {"fabric=leaf_spine", "fabric.rails=optimised"}});
  ASSERT_TRUE(rails) << rails.error().message;
  EXPECT_EQ(rails->fabric->fabric->settings().hosts_per_leaf, 32);
  const auto error = [](const std::string& word) {
    const auto wrong = load_job({.on = "dgx-h100", .nodes = 8, .fabric = word});
    return wrong ? std::string("accepted") : wrong.error().message + "; " + wrong.error().help;
  };
  EXPECT_THAT(error("leafspine"), HasSubstr("leaf_spine"));
  EXPECT_THAT(error("leaf_spine:two"), HasSubstr("'two' is no oversubscription"));
  EXPECT_THAT(error("switch:2:1"), HasSubstr("a switch has no oversubscription"));
  EXPECT_THAT(error("torus"), HasSubstr("dims"));
}

TEST(AskedJob, NicsOfAnotherRate) {
  auto asked = load_job({.on = "dgx-h100", .set = {"nic_rate=200G"}});
  ASSERT_TRUE(asked) << asked.error().message;
  EXPECT_EQ(nets_of(asked->hosts.runs[0].host)[0].net->mbits_per_second, 200000);
}

TEST(AskedJob, NotesVariablesWithoutEffect) {
  const JobOptions options{.on = "dgx-h100", .set = {"NCCL_DEBUG=INFO", "NCCL_ALGO=Ring"}};
  EXPECT_TRUE(load_job(options));
  EXPECT_THAT(idle_notes(options),
              testing::ElementsAre("NCCL_DEBUG decides nothing here: it is ignored"));
}

TEST(AskedJob, NicsJoinAsTheVariableAsks) {
  const auto asked = load_job({.on = "dgx-h100", .set = {"NCCL_NET_MERGE_LEVEL=PHB"}});
  ASSERT_TRUE(asked) << asked.error().message;
  EXPECT_EQ(asked->job.systems[0].nets.size(), 2U);  // one a socket
}

}  // namespace
}  // namespace ringside::study
