#include "engine/topology/sources/hwloc_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "engine/topology/device_models.h"
#include "engine/topology/sources/host_source.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#endif

namespace ringside {
namespace {

/// Returns a machine with one package and one core; `devices` are below the host bridge.
std::string machine_xml(const std::string& devices, const std::string& distances = {}) {
  const std::string sets =
      R"(cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1")";
  return R"(<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
<object type="Machine" os_index="0" allowed_cpuset="0x1" allowed_nodeset="0x1" gp_index="1" )" +
         sets + R"(><info name="Architecture" value="x86_64"/>
<object type="Package" os_index="0" gp_index="2" )" +
         sets + R"(><info name="CPUVendor" value="AuthenticAMD"/>
<info name="CPUFamilyNumber" value="25"/><info name="CPUModelNumber" value="1"/>
<object type="NUMANode" os_index="0" gp_index="3" local_memory="1073741824" )" +
         sets + R"(/>
<object type="Core" os_index="0" gp_index="4" )" +
         sets + R"(><object type="PU" os_index="0" gp_index="5" )" + sets +
         R"(/></object>
<object type="Bridge" gp_index="6" bridge_type="0-1" depth="0" bridge_pci="0000:[10-2f]">)" +
         devices + "</object></object></object>" + distances + "</topology>";
}

std::string bridge(int index, int depth, const std::string& bus_id, const std::string& buses,
                   const std::string& below) {
  return R"(<object type="Bridge" gp_index=")" + std::to_string(index) +
         R"(" bridge_type="1-1" depth=")" + std::to_string(depth) + R"(" bridge_pci="0000:[)" +
         buses + R"(]" pci_busid=")" + bus_id +
         R"(" pci_type="0604 [1000:c010] [1000:a096] b0" pci_link_speed="31.507692">)" + below +
         "</object>";
}

std::string function(int index, const std::string& bus_id, const std::string& type,
                     const std::string& speed, const std::string& below = {}) {
  return R"(<object type="PCIDev" gp_index=")" + std::to_string(index) + R"(" pci_busid=")" +
         bus_id + R"(" pci_type=")" + type + R"( [10de:144e] a1" pci_link_speed=")" + speed +
         R"(">)" + below + "</object>";
}

std::string rdma(int index, const std::string& name, int state) {
  return R"(<object type="OSDev" gp_index=")" + std::to_string(index) + R"(" name=")" + name +
         R"(" osdev_type="3"><info name="NodeGUID" value="0800:3800:01c0:91e8"/>)" +
         R"(<info name="Port1State" value=")" + std::to_string(state) + R"("/></object>)";
}

/// Returns a root port, a switch, and below it an A100 and a 200 Gbit/s NIC whose port has this state.
std::string switch_xml(int port_state = 4) {
  return bridge(10, 1, "0000:10:01.0", "11-14",
                bridge(11, 2, "0000:11:00.0", "12-14",
                       bridge(12, 3, "0000:12:00.0", "13-13",
                              function(13, "0000:13:00.0", "0302 [10de:20b0]", "31.507692")) +
                           bridge(14, 3, "0000:12:01.0", "14-14",
                                  function(15, "0000:14:00.0", "0207 [15b3:101b]", "31.507692",
                                           rdma(16, "mlx5_0", port_state)))));
}

TEST(HwlocSource, ASwitchWithGpuAndNicBecomesOneElementWithBoth) {
  auto machine = find_in_hwloc_xml(machine_xml(switch_xml()), "m.xml");
  ASSERT_TRUE(machine) << machine.error().message;
  const Host host = lay_out(*std::move(machine));
  ASSERT_EQ(host.cpus.size(), 1U);
  EXPECT_EQ(host.cpus[0].arch, "x86_64");
  EXPECT_EQ(host.cpus[0].vendor, "AuthenticAMD");
  EXPECT_EQ(host.cpus[0].family, 15 + ((25 - 15) << 4));  // 175, as NCCL adds it up
  EXPECT_EQ(host.cpus[0].affinity, "00000001");
  ASSERT_EQ(host.cpus[0].pci.size(), 1U);
  const HostPci& port = host.cpus[0].pci[0];
  EXPECT_EQ(port.bus_id, "0000:11:00.0");
  EXPECT_EQ(port.vendor, "0x1000");
  EXPECT_EQ(port.link_speed, "16.0 GT/s PCIe");  // 16 x 16 GT/s x 128/130 / 8 = 31.5 GB/s
  EXPECT_EQ(port.link_width, 16);
  ASSERT_EQ(port.children.size(), 2U);
  EXPECT_EQ(port.children[0].gpu->sm, 80);
  const HostNet& net = port.children[1].nic->nets[0];
  EXPECT_EQ(net.name, "mlx5_0");
  EXPECT_EQ(net.guid, 0x0800380001c091e8U);
  EXPECT_EQ(net.mbits_per_second, 200000);  // a ConnectX-6
}

TEST(HwlocSource, APortThatIsDownIsNotANic) {
  const auto machine = find_in_hwloc_xml(machine_xml(switch_xml(1)), "m.xml");
  ASSERT_TRUE(machine);
  EXPECT_TRUE(machine->nics.empty());
}

TEST(HwlocSource, TheActivePortOfAnAdapterIsUsed) {
  std::string xml = switch_xml(1);
  const std::string first = R"(<info name="Port1State" value="1"/>)";
  ASSERT_NE(xml.find(first), std::string::npos);
  xml.replace(xml.find(first), first.size(), first + R"(<info name="Port2State" value="4"/>)");
  const auto machine = find_in_hwloc_xml(machine_xml(xml), "m.xml");
  ASSERT_TRUE(machine) << machine.error().message;
  ASSERT_EQ(machine->nics.size(), 1U);
  ASSERT_EQ(machine->nics[0].function.nic->nets.size(), 1U);
  EXPECT_EQ(machine->nics[0].function.nic->nets[0].port, 2);
}

TEST(HwlocSource, UsesInterfacesIfThereIsNoRdmaDevice) {
  const std::string eth =
      function(20, "0000:20:00.0", "0200 [8086:1523]", "0.985",
               R"(<object type="OSDev" gp_index="21" name="ens1" osdev_type="2"/>)");
  const auto machine = find_in_hwloc_xml(machine_xml(switch_xml(1) + eth), "m.xml");
  ASSERT_TRUE(machine);
  ASSERT_EQ(machine->nics.size(), 1U);
  EXPECT_EQ(machine->nics[0].function.nic->nets[0].name, "ens1");
  const auto both = find_in_hwloc_xml(machine_xml(switch_xml(4) + eth), "m.xml");
  ASSERT_EQ(both->nics.size(), 1U);
  EXPECT_EQ(both->nics[0].function.nic->nets[0].name, "mlx5_0");
}

// 40 GB/s between two P100 = 2 links of 20; the devices' own entries are no links.
TEST(HwlocSource, NvlinksComeFromTheMatrixOfBandwidths) {
  const std::string nvml = R"(" osdev_type="1" subtype="NVML"/>)";
  const std::string gpus = function(20, "0000:20:00.0", "0302 [10de:15f9]", "15.753846",
                                    R"(<object type="OSDev" gp_index="21" name="nvml0)" + nvml) +
                           function(22, "0000:21:00.0", "0302 [10de:15f9]", "15.753846",
                                    R"(<object type="OSDev" gp_index="23" name="nvml1)" + nvml);
  const std::string distances =
      R"(<distances2hetero nbobjs="2" kind="25" name="NVLinkBandwidth">
<indexes length="18">OSDev:21 OSDev:23 </indexes>
<u64values length="28">1000000 40000 40000 1000000 </u64values></distances2hetero>)";
  const auto machine = find_in_hwloc_xml(machine_xml(gpus, distances), "m.xml");
  ASSERT_TRUE(machine) << machine.error().message;
  ASSERT_EQ(machine->gpus.size(), 2U);
  const HostGpu& gpu = *machine->gpus[0].function.gpu;
  ASSERT_EQ(gpu.nvlinks.size(), 1U);
  EXPECT_EQ(gpu.nvlinks[0].target, "0000:21:00.0");
  EXPECT_EQ(gpu.nvlinks[0].target_class, 0x030200U);
  EXPECT_EQ(gpu.nvlinks[0].count, 2);
}

TEST(HwlocSource, ASyntheticMachineHasProcessorsOnly) {
  const auto machine = find_in_synthetic("pack:2 numa:1 core:4 pu:2");
  ASSERT_TRUE(machine) << machine.error().message;
  EXPECT_EQ(machine->cpus.size(), 2U);
  EXPECT_TRUE(machine->gpus.empty());
  EXPECT_EQ(find_in_synthetic("cheese:2").error().code, ErrorCode::InvalidArgument);
}

TEST(HwlocSource, FilesThatHwlocRejectsAreCorrupt) {
  EXPECT_EQ(find_in_hwloc_xml("<topology version=\"2.0\"><object", "m.xml").error().code,
            ErrorCode::Corrupt);
  EXPECT_EQ(find_in_hwloc_xml("<topology/>", "m.xml").error().code, ErrorCode::Corrupt);
}

TEST(HwlocSource, ThisMachineHasAProcessor) {
#if defined(__SANITIZE_ADDRESS__)
  // hwloc's PCI plug-in leaks what libpciaccess found, and is unloaded before a suppression could name it.
  const __lsan::ScopedDisabler not_ours;
#endif
  const auto machine = find_on_this_machine(SystemFiles{"/sys"});
  ASSERT_TRUE(machine) << machine.error().message;
  EXPECT_GE(machine->cpus.size(), 1U);
  EXPECT_FALSE(machine->cpus[0].arch.empty());
}

TEST(DeviceModels, KnowTheGpusOfThePresets) {
  EXPECT_EQ(gpu_model(0x2330)->sm, 90);   // H100
  EXPECT_EQ(gpu_model(0x2335)->sm, 90);   // H200
  EXPECT_EQ(gpu_model(0x20b0)->sm, 80);   // A100
  EXPECT_EQ(gpu_model(0x1db5)->sm, 70);   // V100
  EXPECT_EQ(gpu_model(0x2901)->sm, 100);  // B200
  EXPECT_EQ(gpu_model(0x26b9)->sm, 89);   // L40S
  EXPECT_EQ(gpu_model(0x1eb8)->sm, 75);   // T4
  EXPECT_FALSE(gpu_model(0x0001));
  EXPECT_EQ(nic_mbits_per_second(0x15b3, 0x1021), 400000);
  EXPECT_EQ(nic_mbits_per_second(0x15b3, 0x0001), 0);
}

/// A /sys folder for one test.
class SystemFilesTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = testing::TempDir() + "ringside_sys_" + std::to_string(::getpid());
    std::filesystem::create_directories(root_);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  void write(const std::string& path, const std::string& text) const {
    const std::filesystem::path full = root_ + "/" + path;
    std::filesystem::create_directories(full.parent_path());
    std::ofstream{full} << text << "\n";
  }
  std::string root_;
};

TEST_F(SystemFilesTest, ALinkIsTheLowerOfItsTwoEnds) {
  const std::string port = "devices/pci0000:10/0000:10:01.0";
  write(port + "/max_link_speed", "16.0 GT/s PCIe");
  write(port + "/max_link_width", "16");
  write(port + "/0000:11:00.0/max_link_speed", "32.0 GT/s PCIe");
  write(port + "/0000:11:00.0/max_link_width", "8");
  std::filesystem::create_directories(root_ + "/bus/pci/devices");
  std::filesystem::create_symlink(std::filesystem::absolute(root_ + "/" + port + "/0000:11:00.0"),
                                  root_ + "/bus/pci/devices/0000:11:00.0");
  HostPci function{.bus_id = "0000:11:00.0", .link_speed = "2.5 GT/s PCIe", .link_width = 16};
  SystemFiles{root_}.read_link(function);
  EXPECT_EQ(function.link_speed, "16.0 GT/s PCIe");
  EXPECT_EQ(function.link_width, 8);
}

TEST_F(SystemFilesTest, PortsThatAreUpHaveARate) {
  write("class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE");
  write("class/infiniband/mlx5_0/ports/1/rate", "400 Gb/sec (4X NDR)");
  write("class/infiniband/mlx5_0/ports/2/state", "1: DOWN");
  const auto ports = SystemFiles{root_}.rdma_ports("mlx5_0");
  ASSERT_EQ(ports.size(), 1U);
  EXPECT_EQ(ports[0].port, 1);
  EXPECT_EQ(ports[0].mbits_per_second, 400000);
  EXPECT_TRUE(SystemFiles{root_}.rdma_ports("mlx5_9").empty());
}

TEST_F(SystemFilesTest, AnInterfaceThatIsDownDoesNotCount) {
  write("class/net/eth0/operstate", "up");
  write("class/net/eth0/speed", "25000");
  write("class/net/eth1/operstate", "down");
  write("class/net/eth2/operstate", "unknown");
  write("class/net/eth2/speed", "-1");
  const SystemFiles files{root_};
  EXPECT_EQ(files.interface("eth0")->mbits_per_second, 25000);
  EXPECT_FALSE(files.interface("eth1"));
  EXPECT_EQ(files.interface("eth2")->mbits_per_second, 0);
}

class PeerMemoryTest : public SystemFilesTest, public testing::WithParamInterface<const char*> {};

TEST_P(PeerMemoryTest, AdaptersReachAGpuByItsAddressWhereAModuleIsLoaded) {
  const SystemFiles files{root_};
  write("module/nvidia/version", "570.1");
  EXPECT_FALSE(files.has_peer_memory());
  write(GetParam(), "570.1");
  EXPECT_TRUE(files.has_peer_memory());
}

INSTANTIATE_TEST_SUITE_P(Modules, PeerMemoryTest,
                         testing::Values("module/nvidia_peermem/version",
                                         "kernel/mm/memory_peers/nv_mem/version",
                                         "kernel/mm/memory_peers/nv_mem_nc/version"));

}  // namespace
}  // namespace ringside
