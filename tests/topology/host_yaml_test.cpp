#include "engine/topology/sources/host_yaml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "engine/topology/host_edit.h"

namespace ringside {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kSmall = R"(ringside: host/1
name: small
cpu: {arch: x86_64, vendor: AuthenticAMD, family: 143, model: 49}
kinds:
  switch: {is: switch, pcie: gen4 x16, id: 1000:c010, subsystem: 1000:a096}
  gpu: {is: gpu, pcie: gen4 x8, id: 10de:20b0, sm: 80, gdr: yes, nvswitches: [c4:00.0 x2, c5:00.0]}
  nic: {is: nic, pcie: gen3 x16, name: mlx5_, rate: 200Gbit/s, gdr: yes, latency: 75us}
  eth: {is: nic, name: eth, rate: 25Gbit/s, port: 0, guid: no}
tree:
- numa 3:
  - switch 01:00.0: [gpu 0 02:00.0, nic 7 03:00.0]
- numa 1: [gpu 1 0008:01:00.0, eth 0]
nvlinks: [0-1 x4]
)";

/// Returns kSmall with the first `from` replaced.
std::string with(const std::string& from, const std::string& to) {
  std::string text = kSmall;
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

Error error_of(const std::string& text) {
  const auto host = parse_host_yaml(text, "h.yaml");
  return host ? Error{ErrorCode::Timeout, "parsed"} : host.error();
}

TEST(HostYaml, WritesEachDeviceOutInFull) {
  const auto described = parse_host_yaml(kSmall, "h.yaml");
  ASSERT_TRUE(described) << described.error().message;
  const Host& host = described->host;
  EXPECT_EQ(host.name, "small");
  EXPECT_EQ(described->hosts_per_domain, 1);
  ASSERT_EQ(host.cpus.size(), 2U);
  EXPECT_EQ(host.cpus[0].numa, 3);
  EXPECT_EQ(host.cpus[1].vendor, "AuthenticAMD");

  const HostPci& port = host.cpus[0].pci[0];
  EXPECT_EQ(port.bus_id, "0000:01:00.0");
  EXPECT_EQ(port.device_class, 0x060400U);
  EXPECT_EQ(port.subsystem_device, "0xa096");
  EXPECT_EQ(port.link_speed, "16.0 GT/s PCIe");
  ASSERT_EQ(port.children.size(), 2U);

  const HostPci& gpu = port.children[0];
  EXPECT_EQ(gpu.link_width, 8);
  ASSERT_TRUE(gpu.gpu);
  EXPECT_EQ(gpu.gpu->sm, 80);
  EXPECT_EQ(gpu.gpu->rank, 0);
  ASSERT_EQ(gpu.gpu->nvlinks.size(), 3U);  // two NVSwitches, and GPU 1
  EXPECT_EQ(gpu.gpu->nvlinks[0].count, 2);
  EXPECT_EQ(gpu.gpu->nvlinks[1].count, 1);
  EXPECT_EQ(gpu.gpu->nvlinks[1].target_class, 0x068000U);
  EXPECT_EQ(gpu.gpu->nvlinks[2].target, "0008:01:00.0");
  EXPECT_EQ(gpu.gpu->nvlinks[2].target_class, 0x030200U);
  EXPECT_EQ(gpu.gpu->nvlinks[2].count, 4);

  const HostNet& net = port.children[1].nic->nets[0];
  EXPECT_EQ(net.name, "mlx5_7");
  EXPECT_EQ(net.dev, 7);
  EXPECT_EQ(net.mbits_per_second, 200000);
  EXPECT_DOUBLE_EQ(net.latency_us, 75);
  EXPECT_NE(net.guid, 0U);

  ASSERT_EQ(host.cpus[1].nics.size(), 1U);  // no PCI function of its own
  EXPECT_EQ(host.cpus[1].nics[0].nets[0].name, "eth0");
  EXPECT_EQ(host.cpus[1].nics[0].nets[0].guid, 0U);
}

TEST(HostYaml, RefusesInvalidValuesAndNamesTheLine) {
  EXPECT_THAT(error_of(with("host/1", "host/2")).message, StartsWith("h.yaml:1: 'host/2'"));
  EXPECT_THAT(error_of(with("nvlinks:", "nvlink:")).help, HasSubstr("did you mean 'nvlinks'?"));
  EXPECT_THAT(error_of(with("arch: x86_64", "arch: x86_65")).help, HasSubstr("'x86_64'"));
  EXPECT_THAT(error_of(with("is: switch", "is: swich")).help, HasSubstr("'switch'"));
  EXPECT_THAT(error_of(with("gen4 x16", "gen9 x16")).message, StartsWith("h.yaml:5:"));
  EXPECT_THAT(error_of(with("1000:c010", "1000c010")).message, HasSubstr("pair of PCI ids"));
  EXPECT_THAT(error_of(with("sm: 80", "sm: eight")).message, HasSubstr("sm must be"));
  EXPECT_THAT(error_of(with("gdr: yes", "gdr: maybe")).message, HasSubstr("yes or no"));
  EXPECT_THAT(error_of(with("c4:00.0 x2", "c4:00.0 x0")).message, HasSubstr("h.yaml:6"));
  EXPECT_THAT(error_of(with("200Gbit/s", "200")).message, HasSubstr("rate"));
  EXPECT_THAT(error_of(with("gpu 0 02", "gpo 0 02")).help, HasSubstr("did you mean 'gpu'?"));
  EXPECT_THAT(error_of(with("nic 7 03:00.0", "nic 03:00.0")).message, HasSubstr("its number"));
  EXPECT_THAT(error_of(with("gpu 1 0008:01:00.0", "gpu 1")).message, HasSubstr("the bus id"));
  EXPECT_THAT(error_of(with("nic 7 03:00.0", "nic 7")).message, HasSubstr("needs a bus id"));
  EXPECT_THAT(error_of(with("nic 7 03:00.0", "nic 7 03:00.")).message, HasSubstr("'03:00.'"));
  EXPECT_THAT(error_of(with("gpu 1", "gpu 0")).message, HasSubstr("GPU 0 appears twice"));
  EXPECT_THAT(error_of(with("eth 0", "eth 7")).message, HasSubstr("NIC 7 appears twice"));
  EXPECT_THAT(error_of(with("03:00.0]", "02:00.0]")).message, HasSubstr("appears twice"));
  EXPECT_THAT(error_of(with("numa 1", "numa 3")).message, HasSubstr("NUMA node 3 appears twice"));
  EXPECT_THAT(error_of(with("0-1 x4", "0-2 x4")).message, HasSubstr("join two GPUs"));
  EXPECT_THAT(error_of(with("0-1 x4", "0-1 x4, 1-0")).message, HasSubstr("appears twice"));
  EXPECT_EQ(error_of("").code, ErrorCode::Corrupt);
  EXPECT_EQ(error_of("ringside: [").code, ErrorCode::Corrupt);
}

// Each of 12 aliases names the one before it four times: 4^12 devices without a limit.
TEST(HostYaml, AliasesThatUnfoldWithoutEndAreRefused) {
  std::string tree = "tree:\n- numa 0:\n  - switch 00:01.0: &a0 [nic 0 00:02.0]\n";
  for (int level = 1; level < 12; ++level) {
    const std::string before = "*a" + std::to_string(level - 1);
    std::string list = "&a" + std::to_string(level) + " [";
    for (int i = 0; i < 4; ++i) {
      list += (i == 0 ? "" : ", ") + std::string("{switch ") + std::to_string(level) + "f:0" +
              std::to_string(i) + ".0: " + before + "}";
    }
    tree += "  - switch " + std::to_string(level) + "e:00.0: " + list + "]\n";
  }
  std::string text = kSmall;
  text = text.substr(0, text.find("tree:")) + tree;
  EXPECT_EQ(error_of(text).code, ErrorCode::Corrupt);
}

/// Returns a DGX H100 with other NICs.
TEST(HostYaml, RatesAndLatenciesAreThoseThatNcclsXmlHolds) {
  const auto c2c = [](const std::string& links) {
    return with("nvswitches: [c4:00.0 x2, c5:00.0]", "c2c: " + links);
  };
  EXPECT_EQ(error_of(c2c("{links: 5, rate: 44.712GB/s}")).message, "parsed");
  EXPECT_EQ(error_of(c2c("{links: 2, rate: 50TB/s}")).message, "parsed");
  EXPECT_THAT(error_of(c2c("{links: 3, rate: 50TB/s}")).message, HasSubstr("beyond any C2C link"));
  EXPECT_THAT(error_of(c2c("{links: 1, rate: 1KB/s}")).message, HasSubstr("beyond any C2C link"));
  EXPECT_EQ(error_of(with("latency: 75us", "latency: 1s")).message, "parsed");
  EXPECT_THAT(error_of(with("latency: 75us", "latency: 2s")).message,
              HasSubstr("latency is beyond any NIC"));
}

std::string like(const std::string& nics) {
  return "ringside: host/1\nname: mine\nlike: dgx-h100\nnics: {" + nics + "}\n";
}

TEST(HostYaml, APresetWithOtherNics) {
  auto described = parse_host_yaml(like("count: 4, rate: 200G, link: roce"), "h.yaml");
  ASSERT_TRUE(described) << described.error().message;
  EXPECT_EQ(described->host.name, "mine");
  EXPECT_EQ(gpu_places_of(described->host).size(), 8U);
  const auto nets = nets_of(described->host);
  ASSERT_EQ(nets.size(), 4U);
  EXPECT_EQ(nets[3].net->name, "rocep3");
  EXPECT_EQ(nets[3].net->link, "roce");
  EXPECT_EQ(nets[3].net->mbits_per_second, 200000);
  EXPECT_TRUE(nets[3].net->gdr);
  // NIC 3 of 4 is below the switch of GPU 6 of 8.
  const HostPci& below = described->host.cpus[1].pci[2];
  ASSERT_EQ(below.children.size(), 2U);
  EXPECT_TRUE(below.children[0].nic);
  EXPECT_EQ(below.children[1].gpu->dev, 6);
}

TEST(HostYaml, APresetByAPartOfItsName) {
  const auto described = parse_host_yaml("ringside: host/1\nname: mine\nlike: gb200\n", "h.yaml");
  ASSERT_TRUE(described) << described.error().message;
  EXPECT_EQ(described->hosts_per_domain, 18);
  // Three presets have an A100, so the name is ambiguous.
  EXPECT_THAT(error_of("ringside: host/1\nname: mine\nlike: a100\n").message,
              HasSubstr("no preset is called 'a100'"));
}

TEST(HostYaml, OtherNicsNeedACountAndARate) {
  EXPECT_THAT(error_of(like("rate: 200G")).message, HasSubstr("count"));
  EXPECT_THAT(error_of(like("count: 8")).message, HasSubstr("rate"));
  EXPECT_THAT(error_of(like("count: 8, speed: 200G")).help, HasSubstr("'rate'"));
  EXPECT_THAT(error_of(like("count: 8, rate: 200G, link: rocee")).help, HasSubstr("'roce'"));
}

TEST(HostYaml, ACardOfTwoPortsIsTwoDevices) {
  auto described = parse_host_yaml(with("latency: 75us", "ports: 2"), "h.yaml");
  ASSERT_TRUE(described) << described.error().message;
  const auto nets = nets_of(described->host);
  ASSERT_EQ(nets.size(), 3U);  // and eth 0
  EXPECT_EQ(nets[1].net->dev, 14);
  EXPECT_EQ(nets[2].net->dev, 15);
  EXPECT_EQ(nets[1].net->guid, nets[2].net->guid);
  EXPECT_EQ(nets[2].net->port, nets[1].net->port + 1);
}

TEST(HostYaml, TheCapabilityFollowsFromThePciId) {
  auto described = parse_host_yaml(with("sm: 80, ", ""), "h.yaml");
  ASSERT_TRUE(described) << described.error().message;
  EXPECT_EQ(gpu_places_of(described->host)[0].gpu->sm, 80);
  // AMD's GPUs have no compute capability.
  EXPECT_TRUE(parse_host_yaml(with("10de:20b0, sm: 80", "1002:74a1"), "h.yaml"));
  EXPECT_THAT(error_of(with("10de:20b0, sm: 80", "8086:0bd5")).message, HasSubstr("sm"));
}

}  // namespace
}  // namespace ringside
