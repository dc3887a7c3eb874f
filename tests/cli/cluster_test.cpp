#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/cli/json_answer.h"
#include "tests/cli/program.h"

namespace ringside {
namespace {

using nlohmann::json;
using testing::HasSubstr;

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The example of docs/reference/clusters.md, and the command lines below it.
struct Page {
  std::string cluster;
  std::string platform;  ///< for SimGrid
  std::vector<std::vector<std::string>> commands;
};

Page read_page() {
  Page page;
  std::istringstream lines(text_of(std::string(RINGSIDE_SOURCE) + "/docs/reference/clusters.md"));
  bool is_cluster = false, is_platform = false;
  for (std::string line; std::getline(lines, line);) {
    const bool is_code = line.starts_with("    ");
    const std::string code = is_code ? line.substr(4) : "";
    if (code == "ringside: cluster/1" || code.starts_with("ringside: cluster/1 "))
      is_cluster = true;
    if (code.starts_with("<?xml")) is_platform = true;
    if (!is_code) is_cluster = is_platform = false;
    if (is_cluster) page.cluster += code + "\n";
    if (is_platform) page.platform += code + "\n";
    if (!is_cluster && code.starts_with("ringside ")) {
      std::istringstream words(code);
      std::vector<std::string>& command = page.commands.emplace_back();
      for (std::string word; words >> word && word != "#";) command.push_back(word);
      command.erase(command.begin());
    }
  }
  return page;
}

/// A new folder in which the test runs.
class Clusters : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_);
    std::filesystem::current_path(folder_);
  }
  void TearDown() override {
    std::filesystem::current_path(before_);
    std::filesystem::remove_all(folder_);
  }
  static void write(const std::string& name, const std::string& fabric,
                    const std::string& nodes = "dgx-h100 x8", const std::string& more = "") {
    std::ofstream(name) << "ringside: cluster/1\nname: test\nnodes: [" << nodes
                        << "]\nfabric: " << fabric << "\n"
                        << more;
  }
  const std::filesystem::path before_ = std::filesystem::current_path();
  const std::filesystem::path folder_ = temporary_path(
      std::string("clusters_") + testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(Clusters, ThePagesExampleAndItsCommandsRun) {
  if (std::string(RINGSIDE_SANITIZED) != "") GTEST_SKIP() << "takes minutes under a sanitizer";
  const Page page = read_page();
  ASSERT_NE(page.cluster, "");
  std::ofstream("two-pods.yaml") << page.cluster;
  std::ofstream("site.xml") << page.platform;
  EXPECT_EQ(page.commands.size(), 9U);
  for (const std::vector<std::string>& command : page.commands) {
    const Outcome outcome = run_program(command);
    EXPECT_EQ(outcome.status, 0) << testing::PrintToString(command) << outcome.err;
    EXPECT_NE(outcome.out, "");
  }
}

TEST_F(Clusters, TheExamplesRun) {
  if (std::string(RINGSIDE_SANITIZED) != "") GTEST_SKIP() << "takes minutes under a sanitizer";
  int count = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(RINGSIDE_SOURCE) + "/sim/fabric/examples")) {
    const std::string path = entry.path().string();
    const Outcome topo = run_program({"topo", "--on", path, "--nodes", "2", "--draw", "svg"});
    EXPECT_EQ(topo.status, 0) << path << topo.err;
    EXPECT_TRUE(topo.out.starts_with("<svg")) << path;
    const Outcome sim = run_program({"sim", "all_reduce", "--bytes", "1M", "--on", path, "--nodes",
                                     "4", "--fidelity", "event"});
    EXPECT_EQ(sim.status, 0) << path << sim.err;
    EXPECT_THAT(sim.out, HasSubstr("# fabric: the busiest link, "));
    ++count;
  }
  EXPECT_EQ(count, 7);
}

// Rails without a connection, and PXN off: a message to a GPU of another rail has no path.
TEST_F(Clusters, RailsApartAskForPxn) {
  write("c.yaml", "{kind: leaf_spine, rails: only, hosts_per_leaf: 4}", "dgx-h100 x2");
  const std::vector<std::string> words{"sim", "all_to_all", "--bytes", "1M", "--on", "c.yaml"};
  EXPECT_EQ(run_program(words).status, 0);
  std::vector<std::string> without = words;
  without.insert(without.end(), {"--set", "NCCL_PXN_DISABLE=1"});
  const Outcome outcome = run_program(without);
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, HasSubstr("(NCCL_PXN_DISABLE=0)"));
}

TEST_F(Clusters, EscapesControlCharactersInMessages) {
  const Outcome outcome = run_program({"topo", "--on", "\x1b[31mred"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, HasSubstr("\\x1b[31mred"));
  EXPECT_THAT(outcome.err, testing::Not(HasSubstr("\x1b")));
}

// Hosts of unknown type; nothing joins the second with the third.
TEST_F(Clusters, APlatformsHostsAreNodes) {
  std::ofstream("p.xml") << R"(<platform version="4.1">
<zone id="z" routing="Full">
  <host id="first"/><host id="second"/><host id="third"/>
  <link id="thin" bandwidth="80Gbps" latency="1us"/>
  <route src="first" dst="second"><link_ctn id="thin"/></route>
</zone>
</platform>
)";
  const Outcome unsaid = run_program({"topo", "--on", "p.xml"});
  EXPECT_EQ(unsaid.status, 2);
  EXPECT_THAT(unsaid.err, HasSubstr("p.xml:3: the node type of host first is unknown"));
  EXPECT_THAT(unsaid.err, HasSubstr("--on dgx-h100@p.xml"));
  const Outcome topo = run_program({"topo", "--on", "dgx-h100@p.xml", "--nodes", "2"});
  EXPECT_EQ(topo.status, 0) << topo.err;
  EXPECT_THAT(topo.out, HasSubstr("fabric of p: platform, routes as SimGrid finds them\n"));
  EXPECT_THAT(topo.out, HasSubstr("zone 0 z: routes as written, 3 hosts, 1 link of 80 Gbit/s\n"));
  const Outcome cut = run_program({"topo", "--on", "dgx-h100@p.xml"});
  EXPECT_EQ(cut.status, 2);
  EXPECT_THAT(cut.err,
              HasSubstr("no path from host 1 (second, dgx-h100) to host 2 (third, dgx-h100)"));
  // 10 GB/s for two nodes of eight GPUs: of 64 MiB at least half crosses in each direction.
  const json sim = json_answer("sim", {"all_reduce", "--bytes", "64M", "--on", "dgx-h100@p.xml",
                                       "--nodes", "2", "--fidelity", "event"});
  EXPECT_GT(sim["results"][0]["time_us"], 6710);
  const Outcome set = run_program({"topo", "--on", "dgx-h100@p.xml", "--set", "fabric.seed=2"});
  EXPECT_EQ(set.status, 2);
  EXPECT_THAT(set.err, HasSubstr("defines its whole fabric"));
  std::ofstream("c.yaml") << "ringside: cluster/1\nname: two\nnodes: [dgx-a100 x3]\n"
                             "fabric: {kind: platform, file: p.xml}\nplacement: [1, 0]\n";
  const Outcome named = run_program({"topo", "--on", "c.yaml"});
  EXPECT_EQ(named.status, 0) << named.err;
  EXPECT_THAT(named.out, HasSubstr("placement: listed, nodes 1,0 of 3"));
}

TEST_F(Clusters, AnEmptyPlacementHasItsOwnError) {
  write("c.yaml", "{kind: switch}", "dgx-h100 x8", "placement: []\n");
  const Outcome topo = run_program({"topo", "--on", "c.yaml"});
  EXPECT_EQ(topo.status, 2);
  EXPECT_THAT(topo.err, HasSubstr("c.yaml:5: a placement that lists no node"));
}

// A rule that comes from a setting has no line in the file.
TEST_F(Clusters, ARuleThatIsSetIsNamedByItsOption) {
  write("c.yaml", "{kind: leaf_spine, hosts_per_leaf: 2}");
  const Outcome topo = run_program({"topo", "--on", "c.yaml", "--set",
                                    "fabric.degraded=[{link: leaf 0 -> spine 99, share: 0.5}]"});
  EXPECT_EQ(topo.status, 2);
  EXPECT_THAT(topo.err, HasSubstr("error: --set fabric.degraded: no cable has the numbers"));
}

TEST_F(Clusters, TopoShowsTheTiers) {
  write("c.yaml", "{kind: leaf_spine, hosts_per_leaf: 2, oversubscription: 4}");
  const Outcome topo = run_program({"topo", "--on", "c.yaml", "--nodes", "2"});
  EXPECT_EQ(topo.status, 0) << topo.err;
  EXPECT_TRUE(topo.out.starts_with("fabric of test: leaf_spine, static routing, seed 1\n"));
  EXPECT_THAT(topo.out, HasSubstr("spine      4 x 4 links\n"));
  EXPECT_THAT(topo.out, HasSubstr("leaf - spine: 16 cables of 400 Gbit/s, 4:1\n"));
  EXPECT_THAT(topo.out, HasSubstr("leaf       4 x 16 NICs down, 4 links up\n"));
  EXPECT_THAT(topo.out, HasSubstr("bisection: 400.00 GB/s"));
  EXPECT_THAT(topo.out, HasSubstr("placement: packed, nodes 0-1 of 8\n"));
  EXPECT_THAT(topo.out, HasSubstr("dgx-h100 x 2: 16 ranks on 2 nodes"));

  const json document = json_answer("topo", {"--on", "c.yaml", "--nodes", "2"});
  EXPECT_EQ(document["fabric"]["kind"], "leaf_spine");
  EXPECT_EQ(document["fabric"]["tiers"][1]["cables"], 16);
  EXPECT_EQ(document["fabric"]["tiers"][1]["oversubscription"], 4);
  EXPECT_EQ(document["fabric"]["bisection_gbs"], 400);
  EXPECT_EQ(document["fabric"]["nodes"], json::array({0, 1}));
  EXPECT_FALSE(json_answer("topo", {"--on", "dgx-h100"}).contains("fabric"));
  EXPECT_EQ(run_program({"topo", "--on", "c.yaml", "--draw", "pic"}).status, 2);
  EXPECT_THAT(run_program({"topo", "--on", "c.yaml", "--draw", "dot"}).out,
              HasSubstr("graph fabric {"));
}

TEST_F(Clusters, SimNamesTheBusiestLinkOfTheFabric) {
  write("c.yaml", "{kind: leaf_spine, hosts_per_leaf: 1, oversubscription: 4, routing: adaptive}");
  const json result =
      json_answer("sim", {"all_reduce", "--bytes", "256M", "--on", "c.yaml", "--algo", "ring",
                          "--proto", "simple", "--fidelity", "event"})["results"][0];
  EXPECT_EQ(result["busiest_fabric_link"]["name"], "leaf 0 -> spines");
  EXPECT_EQ(result["busiest_fabric_link"]["tier"], "leaf - spine");
  EXPECT_EQ(result["busiest_fabric_link"]["bandwidth_gbs"], 100);
  EXPECT_EQ(result["busiest_link"]["name"], "leaf 0 -> spines");
  EXPECT_LE(result["busbw_gbs"], 100);
  EXPECT_TRUE(json_answer("sim", {"all_reduce", "--bytes", "1M", "--on", "dgx-h100", "--nodes",
                                  "2"})["results"][0]["busiest_fabric_link"]
                  .is_null());
}

TEST_F(Clusters, ExplainTakesThemToo) {
  write("c.yaml", "{kind: switch}");
  const Outcome explained =
      run_program({"explain", "all_reduce", "--bytes", "1M", "--on", "c.yaml"});
  EXPECT_EQ(explained.status, 0) << explained.err;
  EXPECT_EQ(explained.out, run_program({"explain", "all_reduce", "--bytes", "1M", "--on",
                                        "dgx-h100", "--nodes", "8"})
                               .out.replace(explained.out.find("c.yaml"), 8, "c.yaml"));
}

TEST_F(Clusters, ErrorsNameThePlaceAndTheFix) {
  const auto error_of = [](const std::vector<std::string>& words) {
    const Outcome outcome = run_program(words);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.out, "");
    return outcome.err;
  };
  write("c.yaml", "{kind: leaf_spine, host_per_leaf: 2}");
  EXPECT_THAT(error_of({"topo", "--on", "c.yaml"}),
              HasSubstr("c.yaml:4: unknown key 'host_per_leaf'"));
  write("c.yaml", "{kind: switch}", "c.yaml x2");
  EXPECT_THAT(error_of({"topo", "--on", "c.yaml"}), HasSubstr("'cluster/1' is not a version"));
  write("c.yaml", "{kind: switch}", "dgx-h10 x2");
  EXPECT_THAT(error_of({"topo", "--on", "c.yaml"}), HasSubstr("did you mean 'dgx-h100'"));
  write("c.yaml", "{kind: switch}");
  EXPECT_THAT(error_of({"topo", "--on", "c.yaml", "--nodes", "9"}), HasSubstr("give 1 to 8"));
  EXPECT_THAT(error_of({"topo", "--on", "c.yaml:4,dgx-h100"}), HasSubstr("give it alone"));
  EXPECT_THAT(error_of({"topo", "--on", "dgx-h100,c.yaml"}), HasSubstr("give it alone"));
  EXPECT_THAT(error_of({"sim", "all_reduce", "-b", "1M", "--on", "c.yaml", "--vary", "nikcs=2"}),
              HasSubstr("did you mean 'nics'"));
  write("c.yaml",
        "{kind: leaf_spine, hosts_per_leaf: 1, degraded: [{link: leaf 1 -> spine *, share: 0}]}",
        "dgx-h100 x2", "placement: [1, 0]\n");
  EXPECT_THAT(error_of({"sim", "all_reduce", "-b", "1M", "--on", "c.yaml"}),
              HasSubstr("c.yaml:4: no path from host 1 (dgx-h100) to host 0 (dgx-h100)"));
}

TEST_F(Clusters, VaryShowsVariantsNextToTheBase) {
  const std::vector<std::string> question{
      "all_reduce", "--bytes",     "256M", "--on",       "dgx-h100", "--nodes",
      "2",          "--algo",      "ring", "--proto",    "simple",   "--vary",
      "nics=4",     "--drop-rail", "0",    "--fidelity", "event"};
  const json document = json_answer("sim", question);
  EXPECT_EQ(document["schema"], "ringside.sim/1");
  EXPECT_TRUE(document["base"]["settings"].empty());
  EXPECT_EQ(document["base"]["results"][0]["busbw_ratio"], 1);
  ASSERT_EQ(document["variants"].size(), 2U);
  EXPECT_EQ(document["variants"][0]["settings"]["nics"], "4");
  EXPECT_NEAR(document["variants"][0]["results"][0]["busbw_ratio"].get<double>(), 0.5, 0.05);
  EXPECT_EQ(document["variants"][1]["settings"]["drop_rail"], "0");
  EXPECT_THAT(document["variants"][0]["results"][0]["limit"].get<std::string>(), HasSubstr("NIC"));

  std::vector<std::string> words{"sim"};
  words.insert(words.end(), question.begin(), question.end());
  const Outcome table = run_program(words);
  EXPECT_EQ(table.status, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("\n base "));
  EXPECT_THAT(table.out, HasSubstr("\n nics=4 "));
  EXPECT_THAT(table.out, HasSubstr("\n drop_rail=0 "));
}

}  // namespace
}  // namespace ringside
