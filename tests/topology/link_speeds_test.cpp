#include "engine/topology/paths/link_speeds.h"

#include <gtest/gtest.h>

namespace ringside {
namespace {

float pci(const char* speed, int width) {
  return pci_bandwidth({.bus_id = {}, .link_speed = speed, .link_width = width});
}

// 100 Mbit/s a lane after encoding, times lanes, over 80: x16 of generation 4 is 120 x 16 / 80.
TEST(LinkSpeeds, PciIsLanesTimesTheGenerationsRate) {
  EXPECT_EQ(pci("2.5 GT/s PCIe", 16), 3.0F);
  EXPECT_EQ(pci("5.0 GT/s PCIe", 16), 6.0F);
  EXPECT_EQ(pci("8 GT/s", 8), 6.0F);
  EXPECT_EQ(pci("16.0 GT/s PCIe", 16), 24.0F);
  EXPECT_EQ(pci("32.0 GT/s PCIe", 16), 48.0F);
  EXPECT_EQ(pci("64.0 GT/s PCIe", 4), 24.0F);
  EXPECT_EQ(pci("", 0), 12.0F) << "generation 3 with 16 lanes";
  EXPECT_EQ(pci("Unknown", 1), 0.75F);
}

TEST(LinkSpeeds, NvLinkFollowsTheComputeCapability) {
  EXPECT_EQ(nvlink_bandwidth(60), 18.0F);
  EXPECT_EQ(nvlink_bandwidth(70), 20.0F);
  EXPECT_EQ(nvlink_bandwidth(80), 20.0F);
  EXPECT_EQ(nvlink_bandwidth(86), 12.0F);
  EXPECT_EQ(nvlink_bandwidth(90), 20.6F);
  EXPECT_EQ(nvlink_bandwidth(103), 40.1F);
}

float sockets(const char* arch, const char* vendor, int family, int model,
              const TopologyRules& rules = {}) {
  return socket_bandwidth(
      cpu_info({.arch = arch, .vendor = vendor, .family = family, .model = model}, rules), rules);
}

TEST(LinkSpeeds, SocketsAreJoinedAsTheirCpuAllows) {
  EXPECT_EQ(sockets("x86_64", "GenuineIntel", 6, 0x4F), 6.0F) << "Broadwell";
  EXPECT_EQ(sockets("x86_64", "GenuineIntel", 6, 0x55), 10.0F) << "Skylake";
  EXPECT_EQ(sockets("x86_64", "GenuineIntel", 6, 0x8F), 22.0F) << "Sapphire Rapids";
  EXPECT_EQ(sockets("x86_64", "GenuineIntel", 6, 0xCF), 40.0F) << "Emerald Rapids";
  EXPECT_EQ(sockets("x86_64", "AuthenticAMD", 25, 1), 16.0F);
  EXPECT_EQ(sockets("x86_64", "CentaurHauls", 7, 0x3B), 6.0F);
  EXPECT_EQ(sockets("x86_64", "  Shanghai  ", 7, 0x5B), 9.0F) << "Yongfeng";
  EXPECT_EQ(sockets("x86_64", "somebody else", 6, 1), 5000.0F);
  EXPECT_EQ(sockets("arm64", "", -1, -1), 6.0F);
  EXPECT_EQ(sockets("ppc64", "", -1, -1), 32.0F);
}

// The families as NCCL 2.31 writes them, and as dumps of older releases contain them.
TEST(LinkSpeeds, From231OnSocketsOfAmdDifferByGeneration) {
  const TopologyRules rules = *load_topology_rules("2.31");
  const auto amd = [&](int family) { return sockets("x86_64", "AuthenticAMD", family, 1, rules); };
  for (const int zen2 : {23, 0x8F, -1, 27}) EXPECT_EQ(amd(zen2), 16.0F) << zen2;
  for (const int zen4 : {25, 0xAF}) EXPECT_EQ(amd(zen4), 24.0F) << zen4;
  for (const int zen5 : {26, 0xBF}) EXPECT_EQ(amd(zen5), 32.0F) << zen5;
}

TEST(LinkSpeeds, From231OnGraniteRapidsAndSierraForestCountAsEmeraldRapids) {
  const TopologyRules rules = *load_topology_rules("2.31");
  for (const int model : {0xAD, 0xAE, 0xAF}) {
    EXPECT_EQ(sockets("x86_64", "GenuineIntel", 6, model), 22.0F) << model;
    EXPECT_EQ(sockets("x86_64", "GenuineIntel", 6, model, rules), 40.0F) << model;
  }
  EXPECT_EQ(sockets("x86_64", "GenuineIntel", 6, 0xAC, rules), 22.0F);
}

TEST(LinkSpeeds, ADeviceIdIsFourFieldsOf16Bits) {
  EXPECT_EQ(device_id({.bus_id = {},
                       .vendor = "0x1000",
                       .device = "0xc010",
                       .subsystem_vendor = "0x1000",
                       .subsystem_device = "0xa096"}),
            0x1000C0101000A096U);
  EXPECT_EQ(device_id({.bus_id = {}, .vendor = "no number"}), 0U);
}

}  // namespace
}  // namespace ringside
