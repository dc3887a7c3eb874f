#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "engine/channels/job.h"
#include "engine/tuning/select.h"

// The answers of NCCL's model on idealised nodes, line by line of vectors.txt.

namespace ringside {
namespace {

/// Nodes of one kind: the GPUs are split evenly between two sockets, each next to its own NIC behind its own switch.
struct Idealised {
  int nodes = 1;
  int gpus = 8;
  int sm = 90;
  int nvlinks = 18;  ///< of each GPU, to an NVSwitch; 0: none
  int nic_gbits = 400;
  const char* vendor = "GenuineIntel";
  /// Its NICs are faster than the path between the sockets, so that NCCL would form two nodes; the answers are those
  /// of one node, as with NCCL_NET_DISABLE_INTRA=1.
  bool is_one_node = false;
};

const std::map<std::string, Idealised>& configurations() {
  static const std::map<std::string, Idealised> kAll{
      {"A", {.nodes = 1}},
      {"B", {.nodes = 2}},
      {"B'", {.nodes = 2, .vendor = "AuthenticAMD"}},
      {"C", {.nodes = 4}},
      {"D", {.nodes = 16}},
      {"E", {.gpus = 4}},
      {"F", {.gpus = 2}},
      {"G", {.nodes = 1, .sm = 100}},
      {"H", {.nodes = 2, .sm = 100}},
      {"I", {.nodes = 1, .sm = 80, .nvlinks = 12}},
      {"J", {.nodes = 4, .gpus = 1}},
      {"K", {.nodes = 8, .gpus = 1}},
      {"L",
       {.nodes = 1, .gpus = 4, .sm = 80, .nvlinks = 0, .nic_gbits = 200, .is_one_node = true}}};
  return kAll;
}

HostPci function_at(int bus, std::uint32_t device_class) {
  return {.bus_id = fmt::format("0000:{:02x}:00.0", bus),
          .device_class = device_class,
          .link_speed = "32.0 GT/s PCIe",
          .link_width = 16};
}

/// A switch with a GPU and its NIC.
HostPci pair_behind_switch(const Idealised& kind, int index) {
  const int bus = 16 * (index + 1);
  HostPci pair = function_at(bus, 0x060400);
  HostPci gpu = function_at(bus + 1, 0x030200);
  gpu.gpu = HostGpu{.dev = index, .sm = kind.sm, .rank = index, .gdr = true};
  if (kind.nvlinks > 0) {
    gpu.gpu->nvlinks = {
        {.target = "0000:05:00.0", .count = kind.nvlinks, .target_class = 0x068000}};
  }
  HostPci nic = function_at(bus + 2, 0x020700);
  nic.nic = HostNic{.nets = {{.name = fmt::format("nic{}", index),
                              .dev = index,
                              .mbits_per_second = kind.nic_gbits * 1000,
                              .guid = static_cast<std::uint64_t>(index) + 1,
                              .gdr = true}}};
  pair.children = {gpu, nic};
  return pair;
}

JobHosts hosts_of(const Idealised& kind) {
  Host host{.name = "idealised"};
  for (int numa = 0; numa < 2; ++numa) {
    HostCpu cpu{.numa = numa, .arch = "x86_64", .vendor = kind.vendor, .family = 6, .model = 143};
    for (int gpu = 0; gpu < kind.gpus; ++gpu) {
      // The first half is on the first socket, as is a single GPU.
      const int of = gpu < (kind.gpus + 1) / 2 ? 0 : 1;
      if (of == numa) cpu.pci.push_back(pair_behind_switch(kind, gpu));
    }
    host.cpus.push_back(std::move(cpu));
  }
  return {.runs = {{.host = std::move(host), .count = kind.nodes}}};
}

/// Our answer for a configuration, computed once.
struct Answer {
  Job job;
  Tuner tuner;
};
const Answer& answer_to(const std::string& id) {
  static std::map<std::string, Answer> known;
  auto place = known.find(id);
  if (place == known.end()) {
    const Idealised& kind = configurations().at(id);
    TopologyParameters topology;
    topology.net_disable_intra = kind.is_one_node;
    Result<Job> job = make_job(hosts_of(kind), topology, {});
    Result<Tuner> tuner = Tuner::make(job.value().connection.shape, {});
    place = known.emplace(id, Answer{std::move(job).value(), std::move(tuner).value()}).first;
  }
  return place->second;
}

std::vector<std::string> split(const std::string& text, const std::string& by) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find(by, begin)) != std::string::npos;
       begin = end + by.size()) {
    parts.push_back(text.substr(begin, end - begin));
  }
  parts.push_back(text.substr(begin));
  return parts;
}

/// The lines that begin with a word, split into the text before the colon and the text after it.
struct Line {
  std::vector<std::string> head;
  std::string body;
};
std::vector<Line> lines_of(const std::string& word) {
  std::ifstream file{RINGSIDE_VECTORS};
  std::vector<Line> lines;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(word + " ")) continue;
    const std::size_t colon = line.find(": ");
    lines.push_back({split(line.substr(word.size() + 1, colon - word.size() - 1), " "),
                     line.substr(colon + 2)});
  }
  return lines;
}

std::string speeds_of(const GraphSummary& graph) {
  return fmt::format("{} x {}/{}", graph.nchannels, graph.bw_intra, graph.bw_inter);
}
std::string types_of(const GraphSummary& graph) {
  return fmt::format("{}/{}", to_string(graph.type_intra), to_string(graph.type_inter));
}

TEST(Vectors, GraphsAndChannelCounts) {
  const std::vector<Line> lines = lines_of("graphs");
  EXPECT_EQ(lines.size(), configurations().size());
  for (const Line& line : lines) {
    SCOPED_TRACE(line.head[0]);
    const Job& job = answer_to(line.head[0]).job;
    const System& system = job.systems[0];
    const CommShape& shape = job.connection.shape;
    const GraphSummary& ring = job.reports[0].graphs[GraphId::Ring];
    const GraphSummary& tree = job.reports[0].graphs[GraphId::Tree];
    const GraphSummary& nvls = job.reports[0].graphs[GraphId::Nvls];
    EXPECT_EQ(
        fmt::format("{:.4g} {:.4g}; {} {} {} {}; {} {} {}; {}; {} {} {} {}", system.max_bandwidth,
                    system.total_bandwidth, speeds_of(ring), types_of(ring),
                    ring.same_channels ? 1 : 0, ring.cross_nic,
                    tree.pattern == Pattern::BalancedTree ? "BAL" : "TREE", speeds_of(tree),
                    types_of(tree), nvls.nchannels > 0 ? speeds_of(nvls) : "-", shape.nchannels,
                    shape.nvls_channels, shape.p2p_channels, shape.p2p_channels_per_peer),
        line.body);
  }
}

Collective collective_of(const std::string& word) {
  return word == "AllReduce" ? Collective::AllReduce : Collective::AllGather;
}

Algorithm algorithm_of(const std::string& word) {
  for (int a = 0; a < kAlgorithms; ++a) {
    if (word == nccl_name(static_cast<Algorithm>(a))) return static_cast<Algorithm>(a);
  }
  throw std::runtime_error("no algorithm " + word);
}

TEST(Vectors, LatenciesAndBandwidths) {
  const std::vector<Line> lines = lines_of("costs");
  EXPECT_GT(lines.size(), 50U);
  for (const Line& line : lines) {
    const Collective collective = collective_of(line.head[0]);
    const Algorithm algorithm = algorithm_of(line.head[2]);
    SCOPED_TRACE(fmt::format("{} {} {}", line.head[0], line.head[1], line.head[2]));
    const CostTable& table = answer_to(line.head[1]).tuner.table();
    const std::vector<std::string> costs = split(line.body, ", ");
    for (std::size_t i = 0; i < costs.size(); ++i) {
      const auto protocol = costs.size() == 1 ? Protocol::Simple : static_cast<Protocol>(i);
      const Cost& cost = table.cost(collective, algorithm, protocol);
      EXPECT_EQ(cost.bandwidth_gbs > 0, costs[i] != "off") << nccl_name(protocol);
      if (costs[i] == "off") continue;
      const std::vector<std::string> numbers = split(costs[i], "@");
      // Four decimals are printed; the last may differ by one.
      EXPECT_NEAR(cost.latency_us, std::stod(numbers[0]), 1e-3) << nccl_name(protocol);
      EXPECT_NEAR(cost.bandwidth_gbs, std::stod(numbers[1]), 1.5e-4) << nccl_name(protocol);
    }
  }
}

TEST(Vectors, Choices) {
  constexpr std::uint64_t kSizes[] = {1 << 10, 8 << 10,  64 << 10, 256 << 10, 1 << 20,
                                      4 << 20, 16 << 20, 64 << 20, 256 << 20, 1 << 30};
  const std::vector<Line> lines = lines_of("choices");
  EXPECT_EQ(lines.size(), 2 * configurations().size());
  for (const Line& line : lines) {
    SCOPED_TRACE(fmt::format("{} {}", line.head[0], line.head[1]));
    const Tuner& tuner = answer_to(line.head[1]).tuner;
    const std::vector<std::string> rows = split(line.body, ", ");
    ASSERT_EQ(rows.size(), std::size(kSizes));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      SCOPED_TRACE(kSizes[i]);
      const auto choice =
          tuner.choose({.collective = collective_of(line.head[0]), .bytes = Bytes{kSizes[i]}});
      ASSERT_TRUE(choice) << choice.error().message;
      const std::vector<std::string> words = split(rows[i], " ");
      EXPECT_EQ(nccl_name(choice->algorithm), words[0]);
      EXPECT_EQ(nccl_name(choice->protocol), words[1]);
      EXPECT_NEAR(choice->prediction.time_us, std::stod(words[2]), 6e-3);
      EXPECT_EQ(choice->max_channels, std::stoi(words[3]));
    }
  }
}

}  // namespace
}  // namespace ringside
