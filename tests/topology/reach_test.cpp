#include "engine/topology/paths/reach.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/topology/small_hosts.h"

namespace ringside {
namespace {

using namespace small_hosts;
using ::testing::ElementsAre;

/// Two GPUs joined by NVLink on two switches; the NIC is next to the first.
std::string one_nic(int sm, int gdr = 1) {
  return system(cpu(
      0,
      bridge(
          "10:00.0",
          gpu({.bus = "11:00.0", .dev = 0, .sm = sm, .gdr = gdr, .inside = nvlink("21:00.0", 4)}) +
              nic("12:00.0", 0)) +
          bridge("20:00.0", gpu({.bus = "21:00.0",
                                 .dev = 1,
                                 .sm = sm,
                                 .gdr = gdr,
                                 .inside = nvlink("11:00.0", 4)}))));
}

std::string two_gpus_at_the_cpu(const std::string& kind) {
  return system(cpu(0, gpu({.bus = "11:00.0"}) + gpu({.bus = "21:00.0", .dev = 1}), kind));
}

TEST(PeerToPeer, ThroughACpuItIsAllowedOnlyOnAmdWithTwoGpus) {
  const System amd = systems_of(two_gpus_at_the_cpu("amd"), 2)[0];
  EXPECT_TRUE(may_p2p(amd, {}, 0, 1));
  const System intel = systems_of(two_gpus_at_the_cpu("intel"), 2)[0];
  EXPECT_FALSE(may_p2p(intel, {}, 0, 1));
  EXPECT_TRUE(may_p2p(intel, {.p2p_level = PathType::Phb}, 0, 1));
  const System three =
      systems_of(system(cpu(0,
                            gpu({.bus = "11:00.0"}) + gpu({.bus = "21:00.0", .dev = 1}) +
                                gpu({.bus = "31:00.0", .dev = 2}),
                            "amd")),
                 3)[0];
  EXPECT_FALSE(may_p2p(three, {}, 0, 1));
}

TEST(PeerToPeer, RefusedPairsUseThePathThroughTheCpu) {
  const std::string behind_a_switch = system(
      cpu(0, bridge("10:00.0", gpu({.bus = "11:00.0"}) + gpu({.bus = "12:00.0", .dev = 1}))));
  const System direct = systems_of(behind_a_switch, 2)[0];
  EXPECT_EQ(direct.path(gpu_ref(0), gpu_ref(1)).type, PathType::Pix);
  // GPU - DEV - PCI - CPU - PCI - DEV - GPU
  const System diverted = systems_of(behind_a_switch, 2, {.p2p_level = PathType::Loc})[0];
  EXPECT_EQ(diverted.path(gpu_ref(0), gpu_ref(1)).type, PathType::Phb);
  EXPECT_EQ(diverted.path(gpu_ref(0), gpu_ref(1)).hops(), 6);
}

TEST(Pxn, TheGpuNextToTheNicRelaysOnTheWayOutOnly) {
  const System system = systems_of(one_nic(80), 4)[0];
  // GPU - DEV - DEV - GPU, then GPU - DEV - PCI - NIC - NET.
  EXPECT_EQ(system.path(gpu_ref(1), net_ref(0)).type, PathType::Pxn);
  EXPECT_EQ(system.path(gpu_ref(1), net_ref(0)).hops(), 7);
  EXPECT_EQ(system.path(net_ref(0), gpu_ref(1)).type, PathType::Phb);
  EXPECT_EQ(system.path(gpu_ref(0), net_ref(0)).type, PathType::Pix);
  EXPECT_EQ(system.nets[0].local_gpu, 0);
  const System off = systems_of(one_nic(80), 4, {.pxn_disable = true})[0];
  EXPECT_EQ(off.path(gpu_ref(1), net_ref(0)).type, PathType::Phb);
}

TEST(GpuDirect, TheNicMustBeNearAndBothMustBeCapable) {
  const System system = systems_of(one_nic(80), 4)[0];
  EXPECT_TRUE(may_gdr(system, {}, 0, 0, false));
  EXPECT_FALSE(may_gdr(system, {.gdr_level = PathType::Loc}, 0, 0, false));
  EXPECT_TRUE(may_gdr(system, {}, 1, 0, true)) << "the distance of PXN is that of its relay";
  const System incapable = systems_of(one_nic(80, 0), 4)[0];
  EXPECT_FALSE(may_gdr(incapable, {}, 0, 0, false));
}

TEST(GpuDirect, BeforeAmpereANicReadsOnlyWhereThereIsNvLink) {
  const System with_nvlink = systems_of(one_nic(70), 4)[0];
  EXPECT_TRUE(may_gdr(with_nvlink, {}, 0, 0, true));
  EXPECT_FALSE(may_gdr(with_nvlink, {.gdr_read = false}, 0, 0, true));
  const System without =
      systems_of(system(cpu(0, bridge("10:00.0", gpu({.bus = "11:00.0", .sm = 70}) +
                                                     gpu({.bus = "12:00.0", .dev = 1, .sm = 70}) +
                                                     nic("13:00.0", 0)))),
                 4)[0];
  EXPECT_FALSE(may_gdr(without, {}, 0, 0, true));
  EXPECT_TRUE(may_gdr(without, {}, 0, 0, false));
  EXPECT_TRUE(may_gdr(without, {.gdr_read = true}, 0, 0, true));
}

TEST(GpuDirect, APartitionOfAGpuHasNone) {
  System system = systems_of(one_nic(80), 4)[0];
  system.gpus[0].mlopart = 1;
  EXPECT_FALSE(may_gdr(system, {}, 0, 0, false));
  EXPECT_TRUE(may_gdr(system, {.gdr_mlopart = true}, 0, 0, false));
}

TEST(GpuDirect, WithoutItTheWayToTheNicGoesThroughTheCpu) {
  const System system = systems_of(one_nic(80, 0), 4)[0];
  EXPECT_EQ(system.path(gpu_ref(0), net_ref(0)).type, PathType::Phb);
  EXPECT_EQ(system.path(net_ref(0), gpu_ref(0)).type, PathType::Phb);
  // GPU - DEV - PCI - CPU - PCI - NIC - NET
  EXPECT_EQ(system.path(gpu_ref(0), net_ref(0)).hops(), 6);
}

TEST(ChipToChip, ANicAtTheCpuOfTheGpuIsNear) {
  const std::string c2c = "<c2c bw=\"44712\" count=\"10\"/>";
  const std::string superchip = system(
      cpu(0, gpu({.bus = "11:00.0", .sm = 90, .inside = c2c}) + nic("12:00.0", 0, 400000), "arm"));
  const System system = systems_of(superchip, 2)[0];
  EXPECT_EQ(system.path(gpu_ref(0), {NodeKind::Cpu, 0}).type, PathType::C2c);
  EXPECT_EQ(system.path(gpu_ref(0), net_ref(0)).type, PathType::P2c);
  EXPECT_EQ(system.path(net_ref(0), gpu_ref(0)).type, PathType::P2c);
  EXPECT_TRUE(may_gdr(system, {}, 0, 0, true));
  EXPECT_FALSE(may_gdr(system, {.gdr_c2c = false}, 0, 0, true));
}

TEST(ChipToChip, ANicNextToTheWidestIsFar) {
  // The GPU reaches its CPU chip to chip. The NIC at the CPU carries 12.5 GB/s, the one behind the
  // switch carries 24.
  const std::string c2c = "<c2c bw=\"44712\" count=\"10\"/>";
  const std::string host =
      system(cpu(0,
                 bridge("10:00.0", gpu({.bus = "11:00.0", .sm = 90, .inside = c2c}) +
                                       nic("12:00.0", 0, 200000)) +
                     nic("13:00.0", 1, 100000),
                 "arm"));
  const System system = systems_of(host, 2)[0];
  EXPECT_EQ(system.path(gpu_ref(0), net_ref(0)).type, PathType::Pix);
  EXPECT_EQ(system.path(gpu_ref(0), net_ref(1)).type, PathType::Phb);
}

/// Returns a switch with one GPU (NVML index `dev`) or two, and so many NICs.
System near_nics(int gpus, int nics) {
  std::string inside;
  for (int i = 0; i < gpus; ++i) {
    inside += gpu({.bus = "1" + std::to_string(i) + ":00.0", .dev = i});
  }
  for (int i = 0; i < nics; ++i) inside += nic("2" + std::to_string(i) + ":00.0", i);
  return systems_of(system(cpu(0, bridge("01:00.0", inside))), 8)[0];
}

std::vector<int> first_nets(const System& system, int gpu, const TopologyParameters& parameters) {
  std::vector<int> nets;
  for (int channel = 0; channel < 4; ++channel) {
    nets.push_back(local_net(system, gpu, channel, parameters));
  }
  return nets;
}

TEST(LocalNet, GpusShareTheNicsNextToThem) {
  // 4 NICs, 2 GPUs: 2 each. GPU 1 starts at its index with the 2 bits mirrored: 01 -> 10.
  const System system = near_nics(2, 4);
  EXPECT_THAT(local_nodes(system, gpu_ref(0), NodeKind::Net), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(first_nets(system, 0, {}), ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(first_nets(system, 1, {}), ElementsAre(2, 3, 2, 3));
  EXPECT_THAT(first_nets(system, 0, {.netdevs_policy = -1}), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(first_nets(system, 1, {.netdevs_policy = 1}), ElementsAre(2, 2, 2, 2));
  EXPECT_EQ(system.nets[0].local_gpu, 0);
  EXPECT_EQ(system.nets[3].local_gpu, 1);
}

TEST(LocalNet, AnOddNumberOfNicsIsTakenInOrder) {
  // 3 NICs, 2 GPUs: ceil(3 / 2) = 2 each, from the GPU's index on, around.
  const System system = near_nics(2, 3);
  EXPECT_THAT(first_nets(system, 0, {}), ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(first_nets(system, 1, {}), ElementsAre(1, 2, 1, 2));
}

// NVML's device 3 alone in front of 4 NICs: 3 with its bits mirrored is 3; modulo 1 GPU it is 0.
TEST(LocalNet, From231OnAGpuCountsAmongItsNeighboursBeforeAConnectX8Only) {
  const auto first = [](int sm, const std::string& card, bool scatters = false) {
    std::string inside = gpu({.bus = "10:00.0", .dev = 3, .sm = sm});
    for (int i = 0; i < 4; ++i) {
      inside += nic("2" + std::to_string(i) + ":00.0", i, 100000, 1, card);
    }
    const System system =
        systems_of(::ringside::small_hosts::system(cpu(0, bridge("01:00.0", inside))), 8)[0];
    TopologyParameters parameters{.scatter_start_net = scatters};
    parameters.rules = *load_topology_rules("2.31");
    return local_net(system, 0, 0, parameters);
  };
  const std::string connectx7 = "vendor=\"0x15b3\" device=\"0x1021\"";
  const std::string connectx8 = "vendor=\"0x15b3\" device=\"0x1023\"";
  EXPECT_EQ(first(100, connectx8), 0);
  EXPECT_EQ(first(100, "vendor=\"0x15b3\" device=\"0x2100\""), 0);
  EXPECT_EQ(first(100, connectx7), 3);
  EXPECT_EQ(first(90, connectx8), 3);
  EXPECT_EQ(first(90, connectx7, true), 0) << "NCCL_TOPO_SCATTER_START_NET=1";
}

TEST(LocalNet, IsNoneWithoutNics) { EXPECT_EQ(local_net(near_nics(1, 0), 0, 0, {}), -1); }

}  // namespace
}  // namespace ringside
