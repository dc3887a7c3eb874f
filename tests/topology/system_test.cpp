#include "engine/topology/paths/system.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/topology/small_hosts.h"

namespace ringside {
namespace {

using namespace small_hosts;
using ::testing::HasSubstr;

NodeRef cpu_ref(int index) { return {NodeKind::Cpu, index}; }

/// Returns the bandwidth of the link between two vertices; 0 without one.
float link_bandwidth(const System& system, NodeRef from, NodeRef to, LinkKind kind) {
  for (const LinkId id : system.node(from).links) {
    const Link& link = system.link(id);
    if (link.to == to && link.kind == kind) return link.bandwidth;
  }
  return 0;
}

/// Expects that every path begins and ends at its ends, has no gap, and is as narrow as its narrowest link.
void expect_paths_connect(const System& system) {
  for (int from_kind = 0; from_kind < kNodeKinds; ++from_kind) {
    for (const NodeKind to_kind :
         {NodeKind::Gpu, NodeKind::Net, NodeKind::Nvs, NodeKind::Cpu, NodeKind::Dev}) {
      const auto kind = static_cast<NodeKind>(from_kind);
      for (int from = 0; from < system.count(kind); ++from) {
        for (int to = 0; to < system.count(to_kind); ++to) {
          NodeRef at{kind, from};
          const Path& path = system.path(at, {to_kind, to});
          if (path.type == PathType::Dis) continue;
          for (const LinkId id : path.links) {
            ASSERT_EQ(system.link(id).from, at);
            EXPECT_GE(system.link(id).bandwidth, path.bandwidth);
            at = system.link(id).to;
          }
          EXPECT_EQ(at, (NodeRef{to_kind, to}));
        }
      }
    }
  }
}

void expect_reverse_links(const System& system) {
  for (std::size_t id = 0; id < system.links.size(); ++id) {
    const Link& link = system.links[id];
    if (link.reverse < 0) continue;
    const Link& back = system.link(link.reverse);
    EXPECT_EQ(back.from, link.to);
    EXPECT_EQ(back.to, link.from);
    EXPECT_EQ(back.kind, link.kind);
    EXPECT_EQ(back.reverse, static_cast<LinkId>(id));
  }
}

/// Two switches on two sockets, each with two GPUs and a NIC, all GPUs on an NVSwitch.
std::string two_sockets() {
  const auto half = [](int first, const std::string& bus) {
    return bridge(bus + "0:00.0",
                  gpu({.bus = bus + "1:00.0", .dev = first, .inside = nvswitch(12)}) +
                      gpu({.bus = bus + "2:00.0", .dev = first + 1, .inside = nvswitch(12)}) +
                      nic(bus + "3:00.0", first / 2, 200000));
  };
  return system(cpu(0, half(0, "1")) + cpu(1, half(2, "2")));
}

TEST(SystemGraph, PathsConnectAndLinksHaveTheirReverse) {
  for (const std::string& xml :
       {two_sockets(), system(cpu(0, gpu({.bus = "1b:00.0"}) + nic("1c:00.0", 0)))}) {
    for (const System& system : systems_of(xml, 8)) {
      expect_paths_connect(system);
      expect_reverse_links(system);
    }
  }
}

TEST(SystemGraph, BandwidthsComeFromSpeedTimesLanes) {
  // Generation 4: 120 x 100 Mbit/s a lane, x 16 / 80 = 24 GB/s; 12 NVLinks of 20 GB/s; 200 Gbit/s.
  const System system = systems_of(two_sockets(), 8)[0];
  const NodeRef dev{NodeKind::Dev, 0};
  EXPECT_EQ(link_bandwidth(system, dev, {NodeKind::Pci, 0}, LinkKind::Pci), 24.0F);
  EXPECT_EQ(link_bandwidth(system, dev, {NodeKind::Nvs, 0}, LinkKind::Nvl), 240.0F);
  EXPECT_EQ(link_bandwidth(system, net_ref(0), {NodeKind::Nic, 0}, LinkKind::Net), 25.0F);
  EXPECT_EQ(link_bandwidth(system, cpu_ref(0), cpu_ref(1), LinkKind::Sys), 10.0F) << "Ice Lake";
  EXPECT_EQ(system.count(NodeKind::Nvs), 1);
}

TEST(SystemGraph, TheWidestLinkComesFirstAndTheWayUpLast) {
  // Behind a switch whose uplink is the widest: a NIC at 12 GB/s, then a GPU at 24.
  const std::string fast = "link_speed=\"32.0 GT/s PCIe\"";
  const std::string slow = "link_speed=\"8.0 GT/s PCIe\"";
  const std::string inside = "<pci busid=\"0000:12:00.0\" class=\"0x020000\" " + slow + ">" +
                             net(0, 100000) + "</pci>" + gpu({.bus = "11:00.0"});
  const System system =
      systems_of(small_hosts::system(cpu(0, "<pci busid=\"0000:10:00.0\" class=\"0x060400\" " +
                                                fast + ">" + inside + "</pci>")),
                 2)[0];
  const std::vector<LinkId>& links = system.node({NodeKind::Pci, 0}).links;
  ASSERT_EQ(links.size(), 3U);
  EXPECT_EQ(system.link(links[0]).to.kind, NodeKind::Dev);
  EXPECT_EQ(system.link(links[1]).to.kind, NodeKind::Nic);
  EXPECT_EQ(system.link(links[1]).bandwidth, 12.0F);
  EXPECT_EQ(system.link(links[2]).to.kind, NodeKind::Cpu);
  EXPECT_EQ(system.link(links[2]).bandwidth, 48.0F);
}

TEST(SystemGraph, ScalarsAreOfTheNetworkOrOfThePeers) {
  // Two such hosts: the best way to a NIC is PCI, 24. One: GPU to GPU over the switch, 240. All
  // the links of a GPU carry max(24, 240).
  const System inter = systems_of(two_sockets(), 8)[0];
  EXPECT_TRUE(inter.is_inter);
  EXPECT_EQ(inter.max_bandwidth, 24.0F);
  const System alone = systems_of(two_sockets(), 4)[0];
  EXPECT_FALSE(alone.is_inter);
  EXPECT_EQ(alone.max_bandwidth, 240.0F);
  EXPECT_EQ(alone.total_bandwidth, 240.0F);
  const System single = systems_of(system(cpu(0, gpu({.bus = "1b:00.0"}))), 1)[0];
  EXPECT_EQ(single.max_bandwidth, 5000.0F);
}

TEST(SystemGraph, PortsOfOneCardShareAVertex) {
  const System system = systems_of(
      small_hosts::system(cpu(0, gpu({.bus = "1b:00.0"}) + nic("1c:00.0", 0) + nic("1c:00.1", 1))),
      2)[0];
  EXPECT_EQ(system.count(NodeKind::Nic), 1);
  EXPECT_EQ(system.count(NodeKind::Net), 2);
}

TEST(SystemGraph, NetDevicesWithoutAPciFunctionHangOnTheirCpu) {
  const System system = systems_of(
      small_hosts::system(cpu(0, gpu({.bus = "1b:00.0"}) + net(0, 10000) + net(1, 0))), 2)[0];
  EXPECT_EQ(system.count(NodeKind::Nic), 1);
  EXPECT_EQ(link_bandwidth(system, cpu_ref(0), {NodeKind::Nic, 0}, LinkKind::Pci), 5000.0F);
  EXPECT_EQ(system.nets[1].bandwidth, 1.25F) << "an unknown speed counts as 10 Gbit/s";
}

TEST(SystemGraph, NetDevicesKeepTheirPlaceAmongPciFunctions) {
  // The GPU of rank 1 follows all that rank 0 adds.
  const System system = systems_of(
      small_hosts::system(cpu(0, gpu({.bus = "12:00.0", .dev = 1}) + net(6, 10000) +
                                     nic("21:00.0", 5) + gpu({.bus = "11:00.0"}) + net(4, 0))),
      4)[0];
  ASSERT_EQ(system.nets.size(), 3U);
  EXPECT_EQ(system.nets[0].dev, 6);
  EXPECT_EQ(system.nets[1].dev, 5);
  EXPECT_EQ(system.nets[2].dev, 4);
  EXPECT_EQ(system.gpus[0].bus_id, "0000:11:00.0");
}

TEST(SystemGraph, BridgesAndCpusWithoutADeviceOfTheJobAreOmitted) {
  const System system =
      systems_of(small_hosts::system(cpu(0, "") + cpu(1, bridge("10:00.0", bridge("11:00.0", "")) +
                                                             gpu({.bus = "1b:00.0"}))),
                 1)[0];
  EXPECT_EQ(system.count(NodeKind::Cpu), 1);
  EXPECT_EQ(system.count(NodeKind::Pci), 0);
  EXPECT_EQ(system.node(cpu_ref(0)).id, 1);
}

TEST(SystemGraph, DevicesComeInTheOrderInWhichTheRanksBringThem) {
  // Rank 0 adds its GPU and the NIC, in file order; then ranks 1 and 2 add theirs.
  const System system =
      systems_of(small_hosts::system(
                     cpu(0, gpu({.bus = "11:00.0", .dev = 2}) + nic("12:00.0", 0)) +
                     cpu(1, gpu({.bus = "21:00.0", .dev = 1}) + gpu({.bus = "22:00.0", .dev = 0}))),
                 8)[0];
  ASSERT_EQ(system.count(NodeKind::Gpu), 3);
  EXPECT_EQ(system.gpus[0].bus_id, "0000:11:00.0") << "CPU 0 comes first for its NIC";
  EXPECT_EQ(system.gpus[1].bus_id, "0000:22:00.0");
  EXPECT_EQ(system.gpus[2].bus_id, "0000:21:00.0");
  EXPECT_EQ(system.gpus[0].rank, 2);
  EXPECT_EQ(system.gpus[1].rank, 0);
}

TEST(SystemGraph, PexSwitchesOfTwoLevelsAreOne) {
  const std::string gen5_top =
      "vendor=\"0x1000\" device=\"0xc030\" subsystem_vendor=\"0x1000\" subsystem_device=\"0x0000\"";
  const std::string gen5_sub =
      "vendor=\"0x1000\" device=\"0xc030\" subsystem_vendor=\"0x1000\" subsystem_device=\"0x1001\"";
  const std::string other =
      "vendor=\"0x10b5\" device=\"0x8764\" subsystem_vendor=\"0x10b5\" subsystem_device=\"0x8764\"";
  const auto switches = [&](const std::string& below) {
    return systems_of(
        system(cpu(0, bridge("10:00.0",
                             bridge("11:00.0", gpu({.bus = "12:00.0"}), below) +
                                 bridge("13:00.0", gpu({.bus = "14:00.0", .dev = 1}), below),
                             gen5_top))),
        2)[0];
  };
  const System joined = switches(gen5_sub);
  EXPECT_EQ(joined.count(NodeKind::Pci), 1);
  EXPECT_EQ(joined.path(gpu_ref(0), gpu_ref(1)).type, PathType::Pix);
  expect_paths_connect(joined);
  expect_reverse_links(joined);
  const System apart = switches(other);
  EXPECT_EQ(apart.count(NodeKind::Pci), 3);
  EXPECT_EQ(apart.path(gpu_ref(0), gpu_ref(1)).type, PathType::Pxb);
}

TEST(SystemGraph, PeerSwitchesAreLinkedDirectly) {
  const auto half = [](const std::string& bus, int dev, const std::string& peer) {
    return bridge(bus + "0:00.0", gpu({.bus = bus + "1:00.0", .dev = dev}) +
                                      "<pcilink target=\"0000:" + peer + "0:00.0\"/>");
  };
  const System system =
      systems_of(small_hosts::system(cpu(0, half("1", 0, "2") + half("2", 1, "1"))), 2)[0];
  EXPECT_EQ(system.path(gpu_ref(0), gpu_ref(1)).type, PathType::Pxb);
}

TEST(SystemGraph, AVertexPastAnotherGpuTakesOneNvLinkMore) {
  // In a row 0 - 1 - 2, 0 reaches 2 through 1, unless that is disabled.
  const std::string row = system(cpu(
      0,
      gpu({.bus = "1a:00.0", .dev = 0, .inside = nvlink("1b:00.0", 2)}) +
          gpu({.bus = "1b:00.0", .dev = 1, .inside = nvlink("1a:00.0", 2) + nvlink("1c:00.0", 1)}) +
          gpu({.bus = "1c:00.0", .dev = 2, .inside = nvlink("1b:00.0", 1)})));
  const System system = systems_of(row, 3)[0];
  const Path& relayed = system.path(gpu_ref(0), gpu_ref(2));
  EXPECT_EQ(relayed.type, PathType::Nvb);
  EXPECT_EQ(relayed.hops(), 4);
  EXPECT_EQ(relayed.bandwidth, 20.0F);
  EXPECT_EQ(system.path(gpu_ref(0), gpu_ref(1)).bandwidth, 40.0F);
  const System direct = systems_of(row, 3, {.nvb_disable = true})[0];
  EXPECT_EQ(direct.path(gpu_ref(0), gpu_ref(2)).type, PathType::Phb);
}

TEST(MakeSystems, GpusWithoutAPathAreSeparateNodes) {
  const std::string pair =
      system(cpu(0, gpu({.bus = "1a:00.0"})) + cpu(1, gpu({.bus = "2a:00.0", .dev = 1})));
  EXPECT_EQ(systems_of(pair, 2).size(), 1U) << "shared memory joins them";
  const auto apart = systems_of(pair, 2, {.shm_disable = true});
  ASSERT_EQ(apart.size(), 2U);
  EXPECT_EQ(apart[0].gpus[0].rank, 0);
  EXPECT_EQ(apart[1].gpus[0].rank, 1);
  EXPECT_TRUE(apart[1].is_inter);
  EXPECT_EQ(apart[0].count(NodeKind::Gpu), 1);
  EXPECT_EQ(apart[0].count(NodeKind::Dev), 2) << "the silicon stays";
}

TEST(MakeSystems, TheNetworkInsideAHostIsPreferredWhereItIsFaster) {
  // GPU and NIC next to each other: 12.5 GB/s; between the sockets: 10.
  const std::string pairs =
      system(cpu(0, bridge("10:00.0", gpu({.bus = "11:00.0"}) + nic("12:00.0", 0))) +
             cpu(1, bridge("20:00.0", gpu({.bus = "21:00.0", .dev = 1}) + nic("22:00.0", 1))));
  EXPECT_EQ(systems_of(pairs, 2).size(), 2U);
  EXPECT_EQ(systems_of(pairs, 2, {.net_disable_intra = true}).size(), 1U);
}

TEST(MakeSystems, HostsOfAnNvLinkDomainAreOneNode) {
  const Host host = parsed(two_sockets());
  const Host* const hosts[] = {&host, &host};
  const SystemRequest request{.hosts = hosts, .first_rank = 16, .nranks = 32};
  const auto joined = make_systems(request, {});
  ASSERT_TRUE(joined);
  ASSERT_EQ(joined->size(), 1U);
  const System& domain = joined->front();
  EXPECT_EQ(domain.nhosts, 2);
  EXPECT_EQ(domain.count(NodeKind::Gpu), 8);
  EXPECT_EQ(domain.count(NodeKind::Nvs), 1);
  EXPECT_EQ(domain.gpus[7].rank, 23);
  EXPECT_EQ(domain.node(gpu_ref(7)).host, 1);
  EXPECT_EQ(domain.path(gpu_ref(0), gpu_ref(7)).type, PathType::Nvl);
  EXPECT_EQ(domain.path(gpu_ref(0), net_ref(2)).type, PathType::Dis) << "no NIC of another host";

  for (const TopologyParameters& off :
       {TopologyParameters{.mnnvl_enable = 0},
        TopologyParameters{.p2p_level = PathType::Loc, .net_disable_intra = true}}) {
    const auto apart = make_systems(request, off);
    ASSERT_TRUE(apart);
    ASSERT_EQ(apart->size(), 2U);
    EXPECT_EQ(apart->back().gpus[0].rank, 20);
  }
}

TEST(MakeSystems, AHostThatCannotTakePartIsRefused) {
  const Host empty{"empty.xml", {HostCpu{}}};
  const Host* const hosts[] = {&empty};
  const auto none = make_systems({.hosts = hosts, .first_rank = 0, .nranks = 1}, {});
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("empty.xml: no GPU"));

  const Host host = parsed(two_sockets());
  const std::vector<const Host*> many(19, &host);
  const auto large = make_systems({.hosts = many, .first_rank = 0, .nranks = 76}, {});
  ASSERT_FALSE(large);
  EXPECT_THAT(large.error().message, HasSubstr("76 GPUs in one NVLink domain of 19 hosts"));

  Host one_way =
      parsed(system(cpu(0, gpu({.bus = "1a:00.0", .inside = nvlink("1b:00.0", 2)}) +
                               gpu({.bus = "1b:00.0", .dev = 1, .inside = nvlink("1a:00.0", 2)}))));
  one_way.cpus[0].pci[1].gpu->nvlinks.clear();
  const Host* const broken[] = {&one_way};
  const auto refused = make_systems({.hosts = broken, .first_rank = 0, .nranks = 2}, {});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("none back"));
}

}  // namespace
}  // namespace ringside
