#include "engine/channels/graph_xml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "engine/channels/report.h"
#include "tests/support/golden_compare.h"
#include "tests/support/golden_job.h"
#include "tests/support/oracle.h"

namespace ringside {
namespace {

using testing::HasSubstr;

HostPci gpu_at(const char* bus_id, int dev) {
  HostPci pci{.bus_id = bus_id, .device_class = 0x030200, .link_width = 16};
  pci.link_speed = "16.0 GT/s PCIe";
  pci.gpu = HostGpu{.dev = dev, .sm = 80, .rank = dev};
  return pci;
}

/// Two GPUs on one CPU, one node.
System two_gpus() {
  HostCpu cpu{.numa = 0, .arch = "x86_64", .vendor = "AuthenticAMD", .family = 175, .model = 1};
  cpu.pci = {gpu_at("0000:01:00.0", 0), gpu_at("0000:02:00.0", 1)};
  const Host host{.name = "two", .cpus = {cpu}};
  const Host* const hosts[] = {&host};
  auto systems = make_systems({.hosts = hosts, .first_rank = 0, .nranks = 2}, {});
  return std::move(systems.value().front());
}

constexpr const char* kOneRing = R"(<graphs version="1">
  <graph id="0" pattern="4" crossnic="0" nchannels="1" speedintra="7" speedinter="7" latencyinter="0"
         typeintra="PHB" typeinter="PIX" samechannels="1">
    <channel>
      <gpu dev="1"/>
      <gpu dev="0"/>
    </channel>
  </graph>
</graphs>)";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(GraphXml, AGivenGraphIsTakenAndTheOthersAreSearched) {
  const System system = two_gpus();
  const auto given = parse_graph_xml(kOneRing, "ring.xml", system);
  ASSERT_TRUE(given) << given.error().message;
  const NodeReport report = report_on(system, {}, {}, *given);
  EXPECT_EQ(report.graphs[GraphId::Ring].bw_intra, 7);
  EXPECT_EQ(report.graphs[GraphId::Ring].intra, (std::vector<std::vector<int>>{{1, 0}}));
  EXPECT_EQ(report.graphs[GraphId::Tree].nchannels, 1);
  EXPECT_EQ((*given)[GraphId::Nvls].id, GraphId::Nvls) << "one that the file lacks keeps its name";
  EXPECT_NE(report.graphs[GraphId::Tree].bw_intra, 7) << "the file has no tree";
}

TEST(GraphXml, AGraphThatAlwaysCrossesNicsIsNotTakenWhereThatIsForbidden) {
  const System system = two_gpus();
  const auto given =
      parse_graph_xml(replaced(kOneRing, "crossnic=\"0\"", "crossnic=\"1\""), "ring.xml", system);
  ASSERT_TRUE(given) << given.error().message;
  ChannelParameters never;
  never.cross_nic = 0;
  EXPECT_EQ(report_on(system, {}, {}, *given).graphs[GraphId::Ring].bw_intra, 7);
  EXPECT_NE(report_on(system, {}, never, *given).graphs[GraphId::Ring].bw_intra, 7);
}

TEST(GraphXml, SaysWhereAFileIsWrong) {
  const System system = two_gpus();
  const auto message = [&](const std::string& from, const std::string& to) {
    const auto graphs = parse_graph_xml(replaced(kOneRing, from, to), "ring.xml", system);
    return graphs ? std::string{"accepted"} : graphs.error().message;
  };
  EXPECT_THAT(message("<gpu dev=\"1\"/>", ""), HasSubstr("ring.xml:4: a channel of 1 GPUs"));
  EXPECT_THAT(message("dev=\"0\"/>", "dev=\"1\"/>"), HasSubstr("ring.xml:6: a GPU twice"));
  EXPECT_THAT(message("dev=\"0\"/>", "dev=\"5\"/>"), HasSubstr("ring.xml:6: no GPU 0x5"));
  EXPECT_THAT(message("nchannels=\"1\"", "nchannels=\"2\""), HasSubstr("nchannels 2, with 1"));
  EXPECT_THAT(message("nchannels=\"1\"", "nchannels=\"-1\""), HasSubstr("nchannels=\"-1\""));
  EXPECT_THAT(message("id=\"0\"", "id=\"9\""), HasSubstr("id=\"9\""));
  EXPECT_THAT(message("speedintra=\"7\"", "speedintra=\"-7\""), HasSubstr("speedintra"));
  EXPECT_THAT(message("typeintra=\"PHB\"", "typeintra=\"C2C\""), HasSubstr("typeintra C2C"));
  EXPECT_THAT(message("typeintra=\"PHB\"", "typeintra=\"PHX\""), HasSubstr("PHX"));
  EXPECT_THAT(message("<channel>", "<channel><net dev=\"0\"/>"), HasSubstr("no network device"));
  EXPECT_THAT(message("<graphs version=\"1\">", "<graphs version=\"2\">"), HasSubstr("version"));
  EXPECT_THAT(message("</graphs>", ""), HasSubstr("not XML"));
}

TEST(GraphXmlGolden, EveryGraphThatIsWrittenReadsBackTheSame) {
  RINGSIDE_SKIP_WITHOUT_ORACLE();
  for (const char* name : {"dgx-h100-2nodes", "dgx-a100-1nodes", "gb300-2tray-2nodes",
                           "dgx-a100-sharp-2nodes", "mix-h100-b200-2nodes"}) {
    SCOPED_TRACE(name);
    const Json golden = oracle::load_golden(name);
    Job job = oracle::solve(golden);
    for (std::size_t i = 0; i < job.systems.size(); ++i) {
      const auto text = to_graph_xml(job.reports[i].graphs, job.systems[i]);
      ASSERT_TRUE(text) << text.error().message;
      const auto again = parse_graph_xml(*text, "again", job.systems[i]);
      ASSERT_TRUE(again) << again.error().message;
      // The format has no hops.
      for (std::size_t id = 0; id < kGraphs; ++id) {
        Graph graph = again->by_id[id];
        graph.nhops = job.reports[i].graphs.by_id[id].nhops;
        job.reports[i].graphs.by_id[id] = graph;
      }
    }
    EXPECT_THAT(oracle::compare_searches(golden, job).differences, testing::IsEmpty());
  }
}

}  // namespace
}  // namespace ringside
