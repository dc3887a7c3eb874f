#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "engine/topology/nccl_xml.h"
#include "engine/topology/system.h"
#include "tests/support/oracle.h"

namespace ringside {
namespace {

constexpr const char* kKinds[] = {"GPU", "PCI", "NVS", "CPU", "NIC", "NET", "DEV"};

/// The golden files carry some seven digits.
bool is_near(double ours, double theirs) {
  return std::abs(ours - theirs) <= 1e-5 * std::max(std::abs(ours), std::abs(theirs));
}

/// The hosts of one node of the job, before NCCL splits it further.
struct Domain {
  std::vector<const Host*> hosts;
  int first_rank = 0;
  int nranks = 0;
};

class GoldenJob {
 public:
  explicit GoldenJob(const Json& golden) : nranks_(golden["nRanks"]) {
    int domain = 0;
    for (const Json& run : golden["hosts"]) {
      const std::string xml = run["xml"];
      if (hosts_.count(xml) == 0) {
        auto host = load_nccl_xml(oracle::topology_path(xml));
        if (!host) throw std::runtime_error(host.error().message);
        hosts_.emplace(xml, *std::move(host));
      }
      const Host& host = hosts_.at(xml);
      const int of_run = run["nvlDomain"];
      for (int i = 0; i < run["count"].get<int>(); ++i) {
        if (of_run == 0 || of_run != domain) domains_.push_back({{}, next_rank_, 0});
        domain = of_run;
        domains_.back().hosts.push_back(&host);
        const int gpus = static_cast<int>(gpus_of(host).size());
        domains_.back().nranks += gpus;
        next_rank_ += gpus;
      }
    }
  }

  /// The system as this rank sees it.
  [[nodiscard]] System of_rank(int rank) const {
    for (const Domain& domain : domains_) {
      if (rank < domain.first_rank || rank >= domain.first_rank + domain.nranks) continue;
      auto systems =
          make_systems({.hosts = domain.hosts, .first_rank = domain.first_rank, .nranks = nranks_},
                       TopologyParameters{});
      if (!systems) throw std::runtime_error(systems.error().message);
      for (System& system : *systems) {
        for (const GpuInfo& gpu : system.gpus) {
          if (gpu.rank == rank) return std::move(system);
        }
      }
    }
    throw std::runtime_error("no system holds the rank");
  }

 private:
  std::map<std::string, Host> hosts_;
  std::vector<Domain> domains_;
  int next_rank_ = 0;
  int nranks_ = 0;
};

int host_of(const System& system, NodeKind kind, int index) {
  return system.node({kind, index}).host;
}

Json cpus_of(const System& system) {
  Json list = Json::array();
  for (int i = 0; i < system.count(NodeKind::Cpu); ++i) {
    const CpuInfo& cpu = system.cpus[static_cast<std::size_t>(i)];
    list.push_back({{"host", host_of(system, NodeKind::Cpu, i)},
                    {"numa", system.node({NodeKind::Cpu, i}).id},
                    {"arch", static_cast<int>(cpu.arch)},
                    {"vendor", static_cast<int>(cpu.vendor)},
                    {"model", cpu.model}});
  }
  return list;
}

Json gpu_list(const System& system) {
  Json list = Json::array();
  for (int i = 0; i < system.count(NodeKind::Gpu); ++i) {
    const GpuInfo& gpu = system.gpus[static_cast<std::size_t>(i)];
    list.push_back({{"rank", gpu.rank},
                    {"host", host_of(system, NodeKind::Gpu, i)},
                    {"dev", gpu.dev},
                    {"busid", gpu.bus_id},
                    {"sm", gpu.sm},
                    {"gdr", gpu.gdr ? 1 : 0}});
  }
  return list;
}

void expect_nets(const System& system, const Json& golden) {
  ASSERT_EQ(system.nets.size(), golden.size());
  for (std::size_t i = 0; i < golden.size(); ++i) {
    SCOPED_TRACE("nic " + std::to_string(i));
    const NetInfo& net = system.nets[i];
    EXPECT_EQ(host_of(system, NodeKind::Net, static_cast<int>(i)), golden[i]["host"]);
    EXPECT_EQ(net.dev, golden[i]["dev"]);
    EXPECT_EQ(net.guid, std::stoull(golden[i]["guid"].get<std::string>(), nullptr, 16));
    EXPECT_EQ(net.port, golden[i]["port"]);
    EXPECT_TRUE(is_near(net.bandwidth, golden[i]["bw"]));
    EXPECT_TRUE(is_near(net.latency_us, golden[i]["latency"]));
    EXPECT_EQ(net.gdr ? 1 : 0, golden[i]["gdr"]);
    EXPECT_EQ(net.coll ? 1 : 0, golden[i]["coll"]);
    const int rank =
        net.local_gpu < 0 ? -1 : system.gpus[static_cast<std::size_t>(net.local_gpu)].rank;
    EXPECT_EQ(rank, golden[i]["localGpuRank"]);
  }
}

std::string name_of(const System& system, NodeRef ref) {
  char name[64];
  std::snprintf(name, sizeof name, "%s/%d-%llx", kKinds[static_cast<int>(ref.kind)],
                system.node(ref).host, static_cast<unsigned long long>(system.node(ref).id));
  return name;
}

const char* name_of(LinkKind kind) {
  return kind == LinkKind::Pci ? "PCI" : to_string(static_cast<PathType>(kind));
}

std::vector<std::string> link_names(const System& system) {
  std::vector<std::string> names;
  for (const Link& link : system.links) {
    names.push_back(name_of(system, link.from) + " " + name_of(system, link.to) + " " +
                    name_of(link.kind) + " " + std::to_string(link.bandwidth));
  }
  return names;
}

void expect_links(const System& system, const Json& golden) {
  if (golden.empty()) return;  // of several hosts
  std::size_t at = 0;
  for (int kind = 0; kind < kNodeKinds; ++kind) {
    for (const SystemNode& node : system.nodes[static_cast<std::size_t>(kind)]) {
      for (const LinkId id : node.links) {
        const Link& link = system.link(id);
        const std::string ours =
            name_of(system, link.from) + " " + name_of(system, link.to) + " " + name_of(link.kind);
        ASSERT_LT(at, golden.size()) << ours;
        const Json& theirs = golden[at++];
        EXPECT_EQ(ours, theirs[0].get<std::string>() + " " + theirs[1].get<std::string>() + " " +
                            theirs[2].get<std::string>());
        EXPECT_TRUE(is_near(link.bandwidth, theirs[3])) << ours << " " << link.bandwidth;
      }
    }
  }
  EXPECT_EQ(at, golden.size());
}

void expect_paths(const System& system, NodeKind from, NodeKind to, const Json& golden) {
  ASSERT_EQ(static_cast<std::size_t>(system.count(from)), golden["type"].size());
  for (int a = 0; a < system.count(from); ++a) {
    const auto row = static_cast<std::size_t>(a);
    ASSERT_EQ(static_cast<std::size_t>(system.count(to)), golden["type"][row].size());
    for (int b = 0; b < system.count(to); ++b) {
      SCOPED_TRACE("from " + std::to_string(a) + " to " + std::to_string(b));
      const auto column = static_cast<std::size_t>(b);
      const Path& path = system.path({from, a}, {to, b});
      EXPECT_EQ(static_cast<int>(path.type), golden["type"][row][column]);
      EXPECT_TRUE(is_near(path.bandwidth, golden["bw"][row][column])) << path.bandwidth;
      EXPECT_EQ(path.hops(), golden["hops"][row][column]);
    }
  }
}

void expect_system(const System& system, const Json& golden) {
  EXPECT_EQ(system.is_inter ? 1 : 0, golden["inter"]);
  EXPECT_EQ(system.nhosts, golden["nHosts"]);
  EXPECT_TRUE(is_near(system.max_bandwidth, golden["maxBw"])) << system.max_bandwidth;
  EXPECT_TRUE(is_near(system.total_bandwidth, golden["totalBw"])) << system.total_bandwidth;
  EXPECT_EQ(cpus_of(system), golden["cpus"]);
  EXPECT_EQ(system.count(NodeKind::Nvs), golden["nvswitches"]);
  EXPECT_EQ(system.count(NodeKind::Pci), golden["pciSwitches"]);
  EXPECT_EQ(gpu_list(system), golden["gpus"]);
  expect_nets(system, golden["nics"]);
  expect_links(system, golden["links"]);
  expect_paths(system, NodeKind::Gpu, NodeKind::Gpu, golden["gpuGpu"]);
  expect_paths(system, NodeKind::Gpu, NodeKind::Net, golden["gpuNet"]);
  expect_paths(system, NodeKind::Net, NodeKind::Gpu, golden["netGpu"]);
  expect_paths(system, NodeKind::Gpu, NodeKind::Cpu, golden["gpuCpu"]);
}

TEST(SystemGolden, EverySystemIsAsNcclSeesIt) {
  RINGSIDE_SKIP_WITHOUT_ORACLE();
  int compared = 0;
  for (const std::string& name : oracle::golden_names()) {
    const Json golden = oracle::load_golden(name);
    const GoldenJob job{golden};
    for (const Json& entry : golden["systems"]) {
      SCOPED_TRACE(name + " rank " + std::to_string(entry["fromRank"].get<int>()));
      expect_system(job.of_rank(entry["fromRank"]), entry["topo"]);
      ++compared;
    }
  }
  EXPECT_GT(compared, 0);
}

TEST(SystemGolden, EveryHostPrintsAsXmlThatReadsBackTheSame) {
  RINGSIDE_SKIP_WITHOUT_ORACLE();
  int compared = 0;
  for (const auto& entry : std::filesystem::directory_iterator(oracle::topology_path(""))) {
    if (entry.path().extension() != ".xml") continue;
    SCOPED_TRACE(entry.path().filename().string());
    const auto host = load_nccl_xml(entry.path().string());
    ASSERT_TRUE(host) << host.error().message;
    const std::string printed = to_nccl_xml(*host);
    const auto again = parse_nccl_xml(printed, "printed");
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(to_nccl_xml(*again), printed);
    const int nranks = 2 * static_cast<int>(gpus_of(*host).size());
    const Host* const ours[] = {&*again};
    const Host* const theirs[] = {&*host};
    const auto mine = make_systems({.hosts = ours, .first_rank = 0, .nranks = nranks}, {});
    const auto given = make_systems({.hosts = theirs, .first_rank = 0, .nranks = nranks}, {});
    ASSERT_TRUE(mine && given);
    ASSERT_EQ(mine->size(), given->size());
    for (std::size_t i = 0; i < given->size(); ++i) {
      EXPECT_EQ(link_names((*mine)[i]), link_names((*given)[i]));
    }
    ++compared;
  }
  EXPECT_GT(compared, 0);
}

}  // namespace
}  // namespace ringside
