#include "study/sweep/sweep_points.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "study/sweep/sweep_report.h"

namespace ringside::study {
namespace {

using testing::HasSubstr;

Sweep sweep_of(const std::string& rest) {
  auto sweep = parse_sweep("ringside: sweep/1\nname: s\ncurrency: EUR\n" + rest, "s.yaml");
  EXPECT_TRUE(sweep) << sweep.error().message;
  return *std::move(sweep);
}

constexpr const char* kTwo = R"(clusters:
  slow: {on: dgx-h100, set: {nics: 1}, price: {gpu_hour: 2}}
  fast: {on: dgx-h100, price: {host_hour: 20, kwh: 0.25}, power: {host: 10kW, waiting: 4kW, overhead: 1.5}}
workloads: {8B: {ddp: {model: llama3-8b, sequence: 512, gpu: h100, efficiency: 0.5, check_memory: no, data: 16}}}
vary: ['nccl=2.27,2.30', 'workload.bucket_cap_mb=25,100']
)";

TEST(SweepPoints, AreTheGridWithTheLastSettingFastest) {
  const Sweep sweep = sweep_of(kTwo);
  const auto points = points_of(sweep, {});
  ASSERT_TRUE(points) << points.error().message;
  ASSERT_EQ(points->size(), 8U);
  EXPECT_EQ((*points)[1].settings_text(), "nccl=2.27 workload.bucket_cap_mb=100");
  EXPECT_EQ((*points)[4].cluster, 1U);
  std::set<std::string> keys;
  for (const SweepPoint& point : *points) keys.insert(point.key);
  EXPECT_EQ(keys.size(), 8U);
}

// Prices, names and notes may change after the points are done; the inputs of their results may not.
TEST(SweepPoints, AKeyContainsOnlyInputsOfTheResult) {
  const auto first_key = [](const std::string& text, const SweepMethod& method = {}) {
    const auto points = points_of(sweep_of(text), method);
    EXPECT_TRUE(points) << points.error().message;
    return points->front().key;
  };
  const auto with = [](std::string from, std::string to) {
    std::string text = kTwo;
    return text.replace(text.find(from), from.size(), to);
  };
  const std::string key = first_key(kTwo);
  EXPECT_EQ(first_key(with("gpu_hour: 2", "gpu_hour: 3")), key);
  EXPECT_EQ(first_key(with("slow:", "other:")), key);
  EXPECT_NE(first_key(with("nics: 1", "nics: 2")), key);
  EXPECT_NE(first_key(with("efficiency: 0.5", "efficiency: 0.6")), key);
  EXPECT_NE(first_key(with("on: dgx-h100", "on: dgx-b200")), key);
  EXPECT_NE(first_key(kTwo, {.fidelity = "flow"}), key);
  EXPECT_NE(first_key(kTwo, {.version = "9"}), key);
}

TEST(SweepPoints, ANarrowNetworkExposesMore) {
  const Sweep sweep = sweep_of(kTwo);
  const auto points = points_of(sweep, {});
  ASSERT_TRUE(points);
  const PointResult slow = run_point(sweep, (*points)[0], {});
  const PointResult fast = run_point(sweep, (*points)[4], {});
  ASSERT_EQ(slow.end, PointResult::End::Finished) << slow.reason;
  ASSERT_EQ(fast.end, PointResult::End::Finished) << fast.reason;
  EXPECT_GT(slow.exposed, fast.exposed);
  EXPECT_EQ(slow.compute, fast.compute);
  EXPECT_EQ(slow.ranks, 16);
  EXPECT_EQ(slow.hosts, 2);
  EXPECT_EQ(slow.tokens, 16 * 512);  // each GPU has one sequence
  EXPECT_THAT(slow.limit, HasSubstr("all_reduce of data (16 ranks on 2 hosts"));
  EXPECT_GT(slow.call_error_percent, 1);
  EXPECT_LT(slow.call_error_percent, 100);
}

TEST(SweepPoints, RefusesImpossiblePointsAndNamesTheReason) {
  const Sweep sweep = sweep_of(R"(clusters: {one: {on: dgx-h100, nodes: 1}}
workloads: {8B: {ddp: {model: llama3-8b, gpu: h100, efficiency: 0.5, check_memory: no, data: 16}}}
)");
  const auto points = points_of(sweep, {});
  ASSERT_TRUE(points);
  const PointResult result = run_point(sweep, points->front(), {});
  EXPECT_EQ(result.end, PointResult::End::Refused);
  EXPECT_THAT(result.reason, HasSubstr("16 ranks on 1 node"));
}

// A rack of NVLink: 16 of its hosts are one node, and tensor parallel groups of 8 run on two of them. Of 2.30, since 2.31
// takes the trees of two domains for as slow as their NICs, and chooses what the simulator finds slower: most of the step.
// By 2.30: from 2.31 on a group of one GPU a host in a rack takes fewer NICs, and its calls hide what this is about.
TEST(SweepPoints, GroupsMayUsePartsOfAnNvlinkDomain) {
  const Sweep sweep = sweep_of(R"(clusters:
  rack: {on: gb200-nvl72, set: {nvl_domain: 16, nccl: 2.30}}
  hosts: {on: gb200-nvl72, set: {nvl_domain: 1, nccl: 2.30}}
workloads: {8B: {megatron: {model: llama3-8b, sequence: 512, gpu: gb200, efficiency: 0.5, check_memory: no, tensor: 8, data: 16}}}
)");
  const auto points = points_of(sweep, {});
  ASSERT_TRUE(points) << points.error().message;
  const PointResult rack = run_point(sweep, (*points)[0], {});
  const PointResult hosts = run_point(sweep, (*points)[1], {});
  ASSERT_EQ(rack.end, PointResult::End::Finished) << rack.reason;
  ASSERT_EQ(hosts.end, PointResult::End::Finished) << hosts.reason;
  EXPECT_EQ(rack.hosts, 32);  // two domains of 64 GPUs
  EXPECT_EQ(hosts.hosts, 32);
  // Without NVLink between hosts the tensor parallel calls cross the network.
  EXPECT_GT(hosts.exposed / rack.exposed, 1.5);
}

// 128 ranks fill one rack of 72 and a part of another, so they use 16 hosts in each of two.
TEST(SweepPoints, RanksThatDoNotFillNvlinkDomainsAreSharedOutEvenly) {
  const Sweep sweep = sweep_of(R"(clusters:
  shared: {on: gb200-nvl72, set: {nvl_domain: 16}}
  plain: {on: gb200-nvl72}
  too few: {on: gb200-nvl72, nodes: 1}
workloads: {8B: {megatron: {model: llama3-8b, sequence: 512, gpu: gb200, efficiency: 0.5, tensor: 8, data: 16}}}
)");
  const auto points = points_of(sweep, {});
  ASSERT_TRUE(points) << points.error().message;
  const PointResult shared = run_point(sweep, (*points)[0], {});
  const PointResult plain = run_point(sweep, (*points)[1], {});
  ASSERT_EQ(plain.end, PointResult::End::Finished) << plain.reason;
  EXPECT_EQ(plain.hosts, 32);
  EXPECT_DOUBLE_EQ(plain.step.count(), shared.step.count());
  EXPECT_EQ(run_point(sweep, (*points)[2], {}).end, PointResult::End::Refused);
}

// 16 GPUs on 2 hosts for 2 s of which 1.5 s compute; computed manually.
TEST(SweepReport, MoneyAndEnergyFollowFromTheTime) {
  const Sweep sweep = sweep_of(kTwo);
  SweepRow row{.point = {.cluster = 0}};
  row.result = PointResult{.end = PointResult::End::Finished,
                           .step = Seconds{2},
                           .compute = Seconds{1.5},
                           .exposed = Seconds{0.4},
                           .call_error_percent = 10,
                           .ranks = 16,
                           .hosts = 2};
  add_costs(sweep, row);
  EXPECT_DOUBLE_EQ(*row.money, 16 * 2 * 2.0 / 3600);
  EXPECT_FALSE(row.joules);
  EXPECT_DOUBLE_EQ(row.error.count(), 0.04);
  row.point.cluster = 1;
  add_costs(sweep, row);
  const double joules = 2 * (10e3 * 1.5 + 4e3 * 0.5) * 1.5;
  EXPECT_DOUBLE_EQ(*row.joules, joules);
  EXPECT_DOUBLE_EQ(*row.money, 20 * 2 * 2.0 / 3600 + 0.25 * joules / 3.6e6);
}

TEST(SweepReport, BoughtHostsAreWrittenOffEvenly) {
  const Sweep sweep =
      sweep_of(R"(clusters: {one: {on: dgx-h100, price: {host: 350640, fabric: 0, years: 4}}}
workloads: {8B: {ddp: {model: llama3-8b, gpu: h100, efficiency: 0.5, check_memory: no, data: 8}}}
)");
  SweepRow row;
  row.result = PointResult{.end = PointResult::End::Finished, .step = Seconds{3600}, .hosts = 3};
  add_costs(sweep, row);
  EXPECT_DOUBLE_EQ(*row.money, 3 * 10.0);  // 350,640 over 35,064 hours
}

TEST(SweepReport, NamesTheBestAndWhetherItIsTold) {
  const Sweep sweep = sweep_of(kTwo);
  const auto points = points_of(sweep, {});
  ASSERT_TRUE(points);
  std::vector<SweepRow> rows;
  for (std::size_t i = 0; i < points->size(); ++i) {
    SweepRow row{.point = (*points)[i]};
    if (i != 3) {
      row.result = PointResult{.end = PointResult::End::Finished,
                               .step = Seconds{10.0 - static_cast<double>(i)},
                               .exposed = Seconds{1},
                               .call_error_percent = 50,
                               .ranks = 16,
                               .hosts = 2};
    }
    rows.push_back(std::move(row));
  }
  // The last one takes 3 s, and the best one of the other cluster 8 s, both with an error of 0.5 s.
  const SweepReport report = make_sweep_report(sweep, rows, {});
  EXPECT_EQ(report.done, 7U);
  ASSERT_EQ(report.workloads.size(), 1U);
  ASSERT_TRUE(report.workloads[0].fastest);
  EXPECT_EQ(report.workloads[0].fastest->row, 7U);
  EXPECT_EQ(report.workloads[0].fastest->second, 2U);
  EXPECT_TRUE(report.workloads[0].fastest->is_beyond_error);
  for (SweepRow& row : rows) {
    if (row.result) row.result->call_error_percent = 400;  // 4 s each
  }
  EXPECT_FALSE(make_sweep_report(sweep, rows, {}).workloads[0].fastest->is_beyond_error);
}

/// Returns rows for two clusters with one time and two prices, or with two times and one price.
std::vector<SweepRow> rows_of(const Sweep& sweep, std::vector<double> exposed_s) {
  const auto points = points_of(sweep, {});
  EXPECT_TRUE(points);
  std::vector<SweepRow> rows;
  for (std::size_t i = 0; i < points->size(); ++i) {
    SweepRow row{.point = (*points)[i]};
    row.result = PointResult{.end = PointResult::End::Finished,
                             .step = Seconds{10 + exposed_s[i]},
                             .compute = Seconds{10},
                             .exposed = Seconds{exposed_s[i]},
                             .call_error_percent = 10,
                             .ranks = 16,
                             .hosts = 2};
    rows.push_back(std::move(row));
  }
  return rows;
}

constexpr const char* kPriced = R"(compute_error: 15 %
clusters:
  dear: {on: dgx-h100, price: {gpu_hour: 2.04}}
  cheap: {on: dgx-h100, price: {gpu_hour: 2}}
workloads: {8B: {ddp: {model: llama3-8b, gpu: h100, efficiency: 0.5, check_memory: no, data: 16}}}
)";

TEST(SweepReport, ADearerPriceForTheSameTimeIsBeyondTheErrorBars) {
  const Sweep sweep = sweep_of(kPriced);
  const SweepReport report = make_sweep_report(sweep, rows_of(sweep, {5, 5}), {});
  const SweepBest& cheapest = *report.workloads[0].cheapest;
  EXPECT_EQ(report.cluster_name(report.rows[cheapest.row]), "cheap");
  EXPECT_TRUE(cheapest.is_beyond_error);
  EXPECT_FALSE(report.workloads[0].fastest->is_beyond_error);
  // The errors of two communication times are independent: hypot(0.1, 0.15) s.
  const SweepReport near = make_sweep_report(sweep, rows_of(sweep, {1, 1.5}), {});
  EXPECT_TRUE(near.workloads[0].fastest->is_beyond_error);
  const SweepReport nearer = make_sweep_report(sweep, rows_of(sweep, {1, 1.1}), {});
  EXPECT_FALSE(nearer.workloads[0].fastest->is_beyond_error);
}

TEST(SweepReport, TheNextPointOfTheBestClusterIsNamedBeforeTheNextCluster) {
  const Sweep sweep = sweep_of(std::string(kPriced) + "vary: ['nics=4,8']\n");
  const SweepReport report = make_sweep_report(sweep, rows_of(sweep, {3, 3, 1.1, 1}), {});
  const SweepBest& fastest = *report.workloads[0].fastest;
  EXPECT_EQ(fastest.row, 3U);
  EXPECT_EQ(fastest.second, 0U);  // of the other cluster
  ASSERT_TRUE(fastest.sibling);
  EXPECT_EQ(fastest.sibling->row, 2U);
  EXPECT_FALSE(fastest.sibling->is_beyond_error);
  const SweepReport apart = make_sweep_report(sweep, rows_of(sweep, {3, 3, 1.5, 1}), {});
  EXPECT_TRUE(apart.workloads[0].fastest->sibling->is_beyond_error);
  const SweepReport other = make_sweep_report(sweep, rows_of(sweep, {3, 1.1, 1.5, 1}), {});
  EXPECT_FALSE(other.workloads[0].fastest->sibling);
}

TEST(SweepPoints, AWorkloadThatNoPointCanMakeIsAnErrorOfTheFile) {
  const auto refusal = [](const std::string& keys) {
    const auto points = points_of(
        sweep_of("clusters: {one: {on: dgx-h100}}\nworkloads: {w: {ddp: {" + keys + "}}}\n"), {});
    return points ? std::string("accepted") : points.error().message;
  };
  EXPECT_THAT(refusal("model: llama9, gpu: h100, efficiency: 0.5, data: 8"), HasSubstr("llama9"));
  EXPECT_THAT(refusal("model: llama3-8b, gpu: h100, data: 8"), HasSubstr("s.yaml:5: workload w"));
  EXPECT_THAT(refusal("model: llama3-8b, gpu: h100, data: 8"),
              HasSubstr("'efficiency' is missing"));
  // An error about the whole workload names no key.
  const auto many = points_of(
      sweep_of("clusters: {one: {on: dgx-h100}}\nworkloads: {w: {megatron: {model: llama3-70b, "
               "gpu: h100, efficiency: 0.5, tensor: 8, pipeline: 80, data: 65536}}}\n"),
      {});
  ASSERT_FALSE(many);
  EXPECT_THAT(many.error().message, HasSubstr("ranks"));
  // A step that is too large is a result of its point.
  EXPECT_EQ(refusal("model: llama3-70b, gpu: h100, efficiency: 0.5, data: 8"), "accepted");
}

TEST(SweepPoints, VariedHostsBringTheirGpuAndTheirLayouts) {
  const Sweep sweep = sweep_of(R"(clusters: {one: {on: dgx-h100}}
workloads: {70B: {megatron: {model: llama3-70b, sequence: 2048, gpu: h100, efficiency: 0.5, tensor: 8, pipeline: 4, data: 2, zero: yes}}}
vary: ['on=dgx-h100,h200,nowhere', 'layout=auto']
)");
  const auto points = points_of(sweep, {});
  ASSERT_TRUE(points) << points.error().message;
  std::map<std::string, int> layouts;
  for (const SweepPoint& point : *points) ++layouts[point.settings[0].second];
  EXPECT_GT(layouts["h200"], layouts["dgx-h100"]);  // 141 GB allow more layouts than 80
  EXPECT_EQ(layouts["nowhere"], 1);
  // Layouts count like other points: six combinations, more with their layouts.
  const auto too_many = points_of(sweep, {.most_points = 6});
  ASSERT_FALSE(too_many);
  EXPECT_THAT(too_many.error().message, HasSubstr("too many points"));
  EXPECT_TRUE(points_of(sweep, {.most_points = points->size()}));
  const PointResult none = run_point(sweep, points->back(), {});
  EXPECT_EQ(none.end, PointResult::End::Refused);
  EXPECT_THAT(none.reason, HasSubstr("no host 'nowhere'"));
}

}  // namespace
}  // namespace ringside::study
