#include "study/sweep/sweep_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringside::study {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kWhole = R"(ringside: sweep/1
name: whole
about: every key
currency: EUR
one_job: yes
tokens: {value: 1e12, source: the job, assumed: no}
compute_error: 10 %
clusters:
  h100:
    on: dgx-h100
    about: eight a host
    nodes: 4
    set: {nics: 4, NCCL_ALGO: Ring}
    workload: {efficiency: 0.4}
    price: {host: 280000, fabric: 30000, years: 4, kwh: 0.2}
    power: {host: 10.2kW, waiting: 5000 W, overhead: 1.3}
  b200:
    on: dgx-b200
    price: {gpu_hour: {value: 4.5, source: an offer}}
workloads:
  8B: {ddp: {model: llama3-8b, gpu: h100, efficiency: 0.5, check_memory: no, data: 16}}
vary: [workload.data=16 , "nics=4,8"]
assumptions: [nothing fails]
)";

TEST(SweepFile, EveryKeyIsRead) {
  const auto sweep = parse_sweep(kWhole, "s.yaml");
  ASSERT_TRUE(sweep) << sweep.error().message;
  EXPECT_TRUE(sweep->is_one_job);
  EXPECT_EQ(sweep->tokens->value, 1e12);
  EXPECT_FALSE(sweep->tokens->is_assumed);
  EXPECT_EQ(sweep->compute_error->value, 10);
  ASSERT_EQ(sweep->clusters.size(), 2U);
  const SweepCluster& h100 = sweep->clusters[0];
  EXPECT_EQ(h100.nodes, 4);
  EXPECT_THAT(h100.set, ElementsAre(std::pair("nics", "4"), std::pair("NCCL_ALGO", "Ring")));
  EXPECT_EQ(h100.price.fabric->value, 30000);
  EXPECT_DOUBLE_EQ(h100.power.host->value, 10200);
  EXPECT_DOUBLE_EQ(h100.power.waiting->value, 5000);
  EXPECT_TRUE(h100.power.host->is_assumed);
  EXPECT_EQ(sweep->clusters[1].price.gpu_hour->source, "an offer");
  EXPECT_EQ(sweep->workloads[0].keys.at("data"), "16");
  ASSERT_EQ(sweep->vary.size(), 2U);
  EXPECT_THAT(sweep->vary[1].values, ElementsAre("4", "8"));
}

struct Refused {
  const char* name;
  const char* from;  ///< text of kWhole that is replaced
  const char* to;
  const char* place;  ///< the place with which the message begins
  const char* says;
};

class SweepRefusals : public testing::TestWithParam<Refused> {};

TEST_P(SweepRefusals, NameFileLineKeyAndMend) {
  std::string text = kWhole;
  const std::size_t at = text.find(GetParam().from);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, std::string_view(GetParam().from).size(), GetParam().to);
  const auto sweep = parse_sweep(text, "s.yaml");
  ASSERT_FALSE(sweep);
  EXPECT_THAT(sweep.error().message, StartsWith(GetParam().place));
  EXPECT_THAT(sweep.error().message + "|" + sweep.error().help, HasSubstr(GetParam().says));
  EXPECT_NE(sweep.error().help, "");
}

INSTANTIATE_TEST_SUITE_P(
    Files, SweepRefusals,
    testing::Values(
        Refused{"UnknownKey", "about: every", "abuot: every", "s.yaml:3: ", "mean 'about'"},
        Refused{"Version", "sweep/1", "sweep/9", "s.yaml:1: ", "sweep/1"},
        Refused{"NoClusters", "clusters:", "clusters: {}\nassumptions: [a]\nx:", "s.yaml", "known"},
        Refused{"UnknownSetting", "set: {nics: 4", "set: {nisc: 4", "s.yaml:13: ", "mean 'nics'"},
        Refused{"BadSetting", "set: {nics: 4", "set: {nics: four", "s.yaml:13: ", "'four'"},
        Refused{"WorkloadKeyOfCluster", "{efficiency: 0.4}", "{eficiency: 0.4}",
                "s.yaml:10: ", "mean 'efficiency'"},
        Refused{"TwoPrices", "{host: 280000,", "{gpu_hour: 2, host: 280000,",
                "s.yaml:15: ", "one of"},
        Refused{"NoYears", " years: 4,", "", "s.yaml:15: ", "years"},
        Refused{"NoCurrency", "currency: EUR\n", "", "s.yaml:14: ", "currency"},
        Refused{"Negative", "280000", "-1", "s.yaml:15: ", "host"},
        Refused{"NoNumber", "280000", "nan", "s.yaml:15: ", "host"},
        Refused{"Unit", "10.2kW", "10.2kV", "s.yaml:16: ", "kW"},
        Refused{"NoUnit", "10.2kW", "10.2", "s.yaml:16: ", "kW"},
        Refused{"Overhead", "overhead: 1.3", "overhead: 0.3", "s.yaml:16: ", "overhead"},
        Refused{"NoSource", "source: the job, ", "", "s.yaml:6: ", "source"},
        Refused{"UnknownWorkload", "{ddp:", "{dpp:", "s.yaml:21: ", "mean 'ddp'"},
        Refused{"UnknownModelKey", "data: 16}}", "date: 16}}", "s.yaml:21: ", "mean 'data'"},
        Refused{"NoAxis", "\"nics=4,8\"", "nics", "s.yaml:22: ", "KEY=VALUE"},
        Refused{"UnknownAxis", "\"nics=4,8\"", "\"nix=4,8\"", "s.yaml:22: ", "nix"},
        Refused{"AxisTwice", "workload.data=16 ", "\"nics=1,2\"", "s.yaml:22: ", "twice"},
        Refused{"ClusterTwice", "  b200:", "  h100:", "s.yaml:", "twice"}),
    [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace ringside::study
