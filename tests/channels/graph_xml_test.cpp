#include "engine/channels/graph_xml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "engine/channels/job.h"
#include "engine/channels/report.h"
#include "engine/topology/sources/load_hosts.h"

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

TEST(GraphXml, IgnoresAGraphThatCrossesNicsIfCrossNicIsForbidden) {
  const System system = two_gpus();
  const auto given =
      parse_graph_xml(replaced(kOneRing, "crossnic=\"0\"", "crossnic=\"1\""), "ring.xml", system);
  ASSERT_TRUE(given) << given.error().message;
  ChannelParameters never;
  never.cross_nic = 0;
  EXPECT_EQ(report_on(system, {}, {}, *given).graphs[GraphId::Ring].bw_intra, 7);
  EXPECT_NE(report_on(system, {}, never, *given).graphs[GraphId::Ring].bw_intra, 7);
}

TEST(GraphXml, NamesTheLineOfAnError) {
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

/// Returns all fields of a graph except its hops, which the format cannot express.
auto written_fields(const Graph& graph) {
  return std::tie(graph.id, graph.pattern, graph.is_collnet, graph.nchannels, graph.cross_nic,
                  graph.bw_intra, graph.bw_inter, graph.latency_inter, graph.type_intra,
                  graph.type_inter, graph.same_channels, graph.intra, graph.inter);
}

void expect_same_when_read_back(const JobHosts& hosts, const ChannelParameters& parameters) {
  const auto job = make_job(hosts, {}, parameters);
  ASSERT_TRUE(job) << job.error().message;
  for (std::size_t i = 0; i < job->systems.size(); ++i) {
    const auto text = to_graph_xml(job->reports[i].graphs, job->systems[i]);
    ASSERT_TRUE(text) << text.error().message;
    const auto again = parse_graph_xml(*text, "again", job->systems[i]);
    ASSERT_TRUE(again) << again.error().message;
    for (std::size_t id = 0; id < kGraphs; ++id) {
      EXPECT_TRUE(written_fields(again->by_id[id]) ==
                  written_fields(job->reports[i].graphs.by_id[id]))
          << *text;
    }
  }
}

TEST(GraphXml, WrittenGraphsReadBackUnchanged) {
  for (const char* on : {"dgx-h100:2", "dgx-a100", "dgx-h100,dgx-b200"}) {
    SCOPED_TRACE(on);
    expect_same_when_read_back(load_hosts(on, std::nullopt, std::nullopt).value(), {});
  }
  expect_same_when_read_back(load_hosts("gb300-nvl72", 4, 2).value(), {});
}

/// Marks the NICs below a device as belonging to a network that reduces; returns their number.
int let_reduce(HostPci& pci) {
  int nets = 0;
  if (pci.nic) {
    for (HostNet& net : pci.nic->nets) net.coll = true;
    nets += static_cast<int>(pci.nic->nets.size());
  }
  for (HostPci& child : pci.children) nets += let_reduce(child);
  return nets;
}

TEST(GraphXml, GraphsOfANetworkThatReducesReadBackTheSame) {
  JobHosts hosts = load_hosts("dgx-a100", 2, std::nullopt).value();
  int nets = 0;
  for (HostCpu& cpu : hosts.runs.front().host.cpus) {
    for (HostPci& pci : cpu.pci) nets += let_reduce(pci);
  }
  ASSERT_EQ(nets, 8);
  ChannelParameters parameters;
  parameters.collnet_enable = true;
  expect_same_when_read_back(hosts, parameters);
}

}  // namespace
}  // namespace ringside
