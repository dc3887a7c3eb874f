#include "sim/fabric/cluster_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "sim/fabric/cluster.h"

namespace ringside {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kHead = "ringside: cluster/1\nname: one\nnodes: [dgx-h100 x16]\n";

std::string refusal(const std::string& text, const std::vector<ClusterChange>& changes = {}) {
  const auto file = parse_cluster(text, "c.yaml", changes);
  return file ? "accepted" : file.error().message + ": " + file.error().help;
}

TEST(ClusterFile, ReadsEveryKeyOfAFabric) {
  const auto file = parse_cluster(R"(ringside: cluster/1
name: all of it
nodes: [dgx-h100 x16, "some host.xml x4", dgx-a100]
nvl_domain: 1
fabric:
  kind: dragonfly_plus
  rails: optimised
  routing: adaptive
  seed: 9
  hosts_per_leaf: 4
  hosts_per_pod: 8
  oversubscription: 1.5
  spine_oversubscription: 2
  spines: 3
  global_links: 5
  nic_rate: 200Gbit/s
  rate: 400Gbit/s
  core_rate: 800Gbit/s
  hop_latency: 0.2us
  core_latency: 3us
  degraded: [{link: rail 0 leaf 3 <-> group 0 spine 2 link 1, share: 0.5}]
  background: [{link: "group * spine * -> group 1 spine *", share: 0.2}]
placement: scattered 7
)",
                                  "c.yaml");
  ASSERT_TRUE(file) << file.error().message << file.error().help;
  EXPECT_EQ(file->name, "all of it");
  ASSERT_EQ(file->nodes.size(), 3U);
  EXPECT_EQ(file->nodes[1].source, "some host.xml");
  EXPECT_EQ(file->nodes[1].count, 4);
  EXPECT_EQ(file->nodes[2].count, 1);
  const FabricSettings& fabric = file->fabric;
  EXPECT_EQ(fabric.kind, FabricKind::DragonflyPlus);
  EXPECT_EQ(fabric.rails, Rails::Optimised);
  EXPECT_EQ(fabric.routing, Routing::Adaptive);
  EXPECT_EQ(fabric.seed, 9U);
  EXPECT_EQ(fabric.hosts_per_leaf, 4);
  EXPECT_EQ(fabric.hosts_per_pod, 8);
  EXPECT_EQ(fabric.oversubscription, 1.5);
  EXPECT_EQ(fabric.spine_oversubscription, 2);
  EXPECT_EQ(fabric.spines, 3);
  EXPECT_EQ(fabric.global_links, 5);
  EXPECT_EQ(fabric.nic_rate->value, 25e9);
  EXPECT_EQ(fabric.rate->value, 50e9);
  EXPECT_EQ(fabric.core_rate->value, 100e9);
  EXPECT_DOUBLE_EQ(fabric.hop_latency.count(), 0.2e-6);
  EXPECT_DOUBLE_EQ(fabric.core_latency.count(), 3e-6);
  ASSERT_EQ(fabric.rules.size(), 2U);
  EXPECT_EQ(fabric.rules[0].share, 0.5);
  EXPECT_EQ(fabric.rules[0].link, 1);
  EXPECT_TRUE(fabric.rules[0].is_both_ways);
  EXPECT_DOUBLE_EQ(fabric.rules[1].share, 0.8);
  EXPECT_EQ(file->placement.kind, Placement::Kind::Scattered);
  EXPECT_EQ(file->placement.seed, 7U);
}

TEST(ClusterFile, RefusesWithLineAndFix) {
  const std::string head = kHead;
  EXPECT_THAT(
      refusal(head + "fabrik: {kind: switch}\n"),
      AllOf(StartsWith("c.yaml:4: unknown key 'fabrik'"), HasSubstr("did you mean 'fabric'")));
  EXPECT_THAT(refusal(head), HasSubstr("key 'fabric' is missing"));
  EXPECT_THAT(refusal(head + "fabric:\n  kind: fat_tre\n"),
              AllOf(StartsWith("c.yaml:5:"), HasSubstr("did you mean 'fat_tree'")));
  EXPECT_THAT(refusal(head + "fabric: {kind: leaf_spine}\n"), HasSubstr("hosts_per_leaf"));
  EXPECT_THAT(refusal(head + "fabric: {kind: leaf_spine, hosts_per_leaf: 0}\n"),
              HasSubstr("give 1 to 65536"));
  EXPECT_THAT(
      refusal(head + "fabric:\n  kind: leaf_spine\n  hosts_per_leaf: 2\n  oversubscripton: 2\n"),
      AllOf(StartsWith("c.yaml:7: unknown key"), HasSubstr("did you mean 'oversubscription'")));
  EXPECT_THAT(refusal(head + "fabric: {kind: switch, hosts_per_leaf: 2}\n"),
              HasSubstr("unknown key"));
  for (const char* bad : {"0", "-1", "nan", "1e9", "2x", "''", "[2]"}) {
    EXPECT_THAT(refusal(head + "fabric: {kind: leaf_spine, hosts_per_leaf: 2, oversubscription: " +
                        bad + "}\n"),
                StartsWith("c.yaml:4: oversubscription"))
        << bad;
  }
  EXPECT_THAT(refusal(head + "fabric: {kind: switch, nic_rate: 400}\n"), HasSubstr("nic_rate"));
  EXPECT_THAT(refusal(head + "fabric: {kind: switch, nic_rate: 1e290GB/s}\n"),
              HasSubstr("no link has that rate"));
  EXPECT_THAT(refusal(head + "fabric: {kind: switch, nic_rate: 1e300GB/s}\n"),
              HasSubstr("is too large"));
  EXPECT_THAT(refusal(head + "fabric: {kind: switch, nic_rate: 1B/s}\n"),
              HasSubstr("no link has that rate"));
  EXPECT_THAT(refusal(head + "fabric: {kind: switch, hop_latency: 2s}\n"),
              HasSubstr("more than a second"));
  EXPECT_THAT(refusal(head + "fabric: {kind: torus, dims: [2, 2, 2, 2]}\n"),
              HasSubstr("at most 3"));
  EXPECT_THAT(refusal(head + "fabric: {kind: torus, dims: []}\n"),
              HasSubstr("dims without a size"));
  EXPECT_THAT(refusal(head + "fabric: {kind: switch, degraded: [{link: leaf 0, share: 1}]}\n"),
              HasSubstr("not FROM -> TO"));
  EXPECT_THAT(
      refusal(head +
              "fabric:\n  kind: switch\n  degraded:\n  - {link: a 0 -> b 0, share: 1e-12}\n"),
      AllOf(StartsWith("c.yaml:7: share: '1e-12'"), HasSubstr("give 0 (it is down)")));
  EXPECT_THAT(refusal(head + "fabric: {kind: switch}  #" + std::string(1 << 20, ' ')),
              AllOf(HasSubstr("bytes"), HasSubstr("1048576 at most")));
  EXPECT_THAT(
      refusal(head + "fabric: {kind: switch, background: [{link: a 0 -> b 0, share: 1}]}\n"),
      HasSubstr("takes all of a link"));
  EXPECT_THAT(refusal(head + "fabric: {kind: switch}\nplacement: paked\n"),
              AllOf(StartsWith("c.yaml:5:"), HasSubstr("did you mean 'packed'")));
  EXPECT_THAT(refusal(head + "fabric: {kind: switch}\nplacement: [0, -1]\n"),
              HasSubstr("a node's number"));
  EXPECT_THAT(refusal("ringside: cluster/2\nname: a\n"), HasSubstr("'cluster/2' is not a version"));
  EXPECT_THAT(refusal("ringside: cluster/1\nname: a\nnodes: [dgx-h100 x0]\n"),
              HasSubstr("give x1 to x65536"));
  EXPECT_THAT(
      refusal(
          "ringside: cluster/1\nname: a\nnodes: [a x60000, b x60000]\nfabric: {kind: switch}\n"),
      HasSubstr("120000 nodes"));
  EXPECT_THAT(refusal("[1, 2"), StartsWith("c.yaml:"));
  EXPECT_THAT(refusal("name: a\nnodes: [dgx-h100]\n"),
              AllOf(StartsWith("c.yaml:1: the line 'ringside: cluster/1' is missing"),
                    HasSubstr("it is the first line of a cluster")));
  EXPECT_THAT(refusal("ringside: cluster/1\nname: \"\\e[31mred\"\n"),
              StartsWith("c.yaml:2: name has a control character"));
  EXPECT_THAT(refusal(head + "fabric: {kind: switch}\n---\nname: more\n"),
              StartsWith("c.yaml:6: a second document"));
  EXPECT_THAT(refusal(""), HasSubstr("mapping"));
}

TEST(ClusterFile, IsChangedKeyByKey) {
  const std::string text = std::string(kHead) + "fabric: {kind: leaf_spine, hosts_per_leaf: 2}\n";
  const auto file =
      parse_cluster(text, "c.yaml", {{"fabric.oversubscription", "4"}, {"placement", "[3, 1]"}});
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->fabric.oversubscription, 4);
  EXPECT_THAT(file->placement.list, testing::ElementsAre(3, 1));
  EXPECT_THAT(refusal(text, {{"fabric.oversubscripton", "4"}}),
              HasSubstr("did you mean 'oversubscription'"));
  EXPECT_THAT(refusal(text, {{"fabric.oversubscription", "four"}}),
              StartsWith("c.yaml: oversubscription: 'four' is no number"));
  EXPECT_THAT(refusal(text, {{"fabric.oversubscription", "[4"}}), testing::Not("accepted"));
  EXPECT_THAT(refusal(text, {{"fabric.oversubscription", ""}}), HasSubstr("oversubscription"));
}

TEST(ClusterFile, IsDistinguishedFromAHostByItsKey) {
  EXPECT_TRUE(is_cluster_text("# a comment\nringside: cluster/1\n"));
  EXPECT_TRUE(is_cluster_text("ringside:   \"cluster/9\""));
  EXPECT_FALSE(is_cluster_text("ringside: host/1\nname: cluster/1"));
  EXPECT_FALSE(is_cluster_text("<system/>"));
  EXPECT_FALSE(is_cluster_text("ringside:"));
}

/// A new file that is removed with the test.
class LoadedCluster : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) {
    std::filesystem::create_directories(folder_);
    const std::filesystem::path path = folder_ / name;
    std::ofstream(path) << text;
    return path.string();
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) /
      (std::string("cluster_") + testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(LoadedCluster, PlacesHostsOfSeveralKinds) {
  const auto cluster = load_cluster(write("c.yaml",
                                          "ringside: cluster/1\nname: mixed\n"
                                          "nodes: [dgx-h100 x2, dgx-a100 x2]\n"
                                          "fabric: {kind: switch}\nplacement: [3, 0, 2]\n"),
                                    {}, {});
  ASSERT_TRUE(cluster) << cluster.error().message;
  EXPECT_EQ(cluster->nhosts(), 4);
  const auto placed = place_job(*cluster, {});
  ASSERT_TRUE(placed) << placed.error().message;
  EXPECT_THAT(placed->nodes, testing::ElementsAre(3, 0, 2));
  ASSERT_EQ(placed->hosts.runs.size(), 2U);
  EXPECT_EQ(placed->hosts.runs[0].host.name, "dgx-a100");
  EXPECT_EQ(placed->hosts.runs[0].count, 2);
  EXPECT_THAT(run_of_hosts(placed->hosts), testing::ElementsAre(0, 1, 0));
  const auto job = make_job(placed->hosts, {}, {});
  ASSERT_TRUE(job) << job.error().message;
  EXPECT_EQ(job->systems.size(), 2U);  // one search for each kind
  EXPECT_THAT(first_hosts(*job, *placed), testing::ElementsAre(3, 0, 2));
}

TEST_F(LoadedCluster, CountsNvlinkDomainsAsNodes) {
  const auto cluster =
      load_cluster(write("c.yaml",
                         "ringside: cluster/1\nname: racks\nnodes: [gb200-nvl72 x4]\n"
                         "fabric: {kind: leaf_spine, rails: optimised, hosts_per_leaf: 18}\n"
                         "placement: [2, 1]\n"),
                   {}, {});
  ASSERT_TRUE(cluster) << cluster.error().message;
  EXPECT_EQ(cluster->nhosts(), 72);
  EXPECT_EQ(cluster->nnodes(), 4);
  const auto placed = place_job(*cluster, {});
  ASSERT_TRUE(placed);
  EXPECT_EQ(placed->hosts.runs[0].count, 36);
  const auto job = make_job(placed->hosts, {}, {});
  ASSERT_TRUE(job) << job.error().message;
  EXPECT_THAT(first_hosts(*job, *placed), testing::ElementsAre(36, 18));
}

// 16 hosts, 3 to a domain: 16 / 3 is not a whole number.
TEST_F(LoadedCluster, DomainsThatDoNotComeOutAreReportedWithTheirLine) {
  const std::string path =
      write("c.yaml", std::string(kHead) + "nvl_domain: 3\nfabric: {kind: switch}\n");
  const auto by_file = load_cluster(path, {}, {});
  ASSERT_FALSE(by_file);
  EXPECT_THAT(by_file.error().message, HasSubstr("c.yaml:4: 16 hosts in NVLink domains of 3"));
  const auto by_option = load_cluster(path, {}, 5);
  ASSERT_FALSE(by_option);
  EXPECT_THAT(by_option.error().message, HasSubstr("c.yaml with --nvl-domain 5: 16 hosts"));
}

// Some editors put one at the begin of each file that they save.
TEST_F(LoadedCluster, AByteOrderMarkIsIgnored) {
  const auto cluster = load_cluster(
      write("c.yaml", "\xef\xbb\xbf" + std::string(kHead) + "fabric: {kind: switch}\n"), {}, {});
  ASSERT_TRUE(cluster) << cluster.error().message;
  EXPECT_EQ(cluster->nhosts(), 16);
}

TEST_F(LoadedCluster, FindsHostsNextToItsFile) {
  const std::string host =
      "ringside: host/1\nname: mine\ncpu: {arch: x86_64}\nkinds:\n"
      "  gpu: {is: gpu, pcie: gen4 x16, id: 10de:2330, sm: 90}\n"
      "  nic: {is: nic, pcie: gen4 x16, name: eth, rate: 100Gbit/s}\n"
      "tree:\n- numa 0: [gpu 0 01:00.0, nic 0 02:00.0]\n";
  write("mine.yaml", host);
  const auto cluster = load_cluster(
      write("c.yaml",
            "ringside: cluster/1\nname: a\nnodes: [mine.yaml x3]\nfabric: {kind: switch}\n"),
      {}, {});
  ASSERT_TRUE(cluster) << cluster.error().message;
  const auto fabric = make_fabric(*cluster);
  ASSERT_TRUE(fabric) << fabric.error().message;
  EXPECT_DOUBLE_EQ((*fabric)->link(0).rate.value, 12.5e9);

  const auto bare =
      load_cluster(write("d.yaml",
                         "ringside: cluster/1\nname: a\nnodes:\n- mine.yaml x3\n- minne.yaml\n"
                         "fabric: {kind: switch}\n"),
                   {}, {});
  ASSERT_FALSE(bare);
  EXPECT_THAT(bare.error().message, HasSubstr("d.yaml:5: no host 'minne.yaml'"));
}

TEST_F(LoadedCluster, WantsANicOnEachHost) {
  write("bare.yaml",
        "ringside: host/1\nname: bare\ncpu: {arch: x86_64}\nkinds:\n"
        "  gpu: {is: gpu, pcie: gen4 x16, id: 10de:2330, sm: 90}\ntree:\n- numa 0: [gpu 0 "
        "01:00.0]\n");
  const auto cluster = load_cluster(
      write("c.yaml",
            "ringside: cluster/1\nname: a\nnodes: [dgx-h100, bare.yaml]\nfabric: {kind: switch}\n"),
      {}, {});
  ASSERT_TRUE(cluster) << cluster.error().message;
  const auto fabric = make_fabric(*cluster);
  ASSERT_FALSE(fabric);
  EXPECT_THAT(fabric.error().message, HasSubstr("c.yaml:4: bare has no NIC"));
}

}  // namespace
}  // namespace ringside
