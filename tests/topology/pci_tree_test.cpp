#include "engine/topology/pci_tree.h"

#include <gtest/gtest.h>

namespace ringside {
namespace {

FoundDevice gpu_at(const std::string& bus_id, const std::vector<std::string>& above, int numa = 0) {
  FoundDevice device;
  device.function.bus_id = bus_id;
  device.function.gpu = HostGpu{.sm = 90};
  for (const std::string& bridge : above) device.above.push_back({.function = {.bus_id = bridge}});
  device.numa = numa;
  return device;
}

FoundDevice nic_at(const std::string& bus_id, const std::vector<std::string>& above, int numa = 0) {
  FoundDevice device = gpu_at(bus_id, above, numa);
  device.function.gpu.reset();
  device.function.nic = HostNic{{{.name = "nic"}}};
  return device;
}

// A switch is an upstream port with a downstream port for each device; a root port leads to it.
TEST(PciTree, ASwitchIsItsUpstreamPort) {
  FoundMachine machine;
  machine.cpus = {{.numa = 0}, {.numa = 1}};
  machine.gpus = {gpu_at("0000:18:00.0", {"0000:16:01.0", "0000:15:00.0", "0000:14:01.0"})};
  machine.nics = {nic_at("0000:17:00.0", {"0000:16:00.0", "0000:15:00.0", "0000:14:01.0"})};
  const Host host = lay_out(std::move(machine));
  ASSERT_EQ(host.cpus.size(), 1U);  // nothing hangs below the other one
  ASSERT_EQ(host.cpus[0].pci.size(), 1U);
  const HostPci& port = host.cpus[0].pci[0];
  EXPECT_EQ(port.bus_id, "0000:15:00.0");
  ASSERT_EQ(port.children.size(), 2U);
  EXPECT_TRUE(port.children[0].gpu);
  EXPECT_TRUE(port.children[1].nic);
}

TEST(PciTree, ADeviceAtARootPortHangsBelowItsCpu) {
  FoundMachine machine;
  machine.cpus = {{.numa = 0}, {.numa = 1}};
  machine.gpus = {gpu_at("0000:01:00.0", {"0000:00:01.0"}, 1), gpu_at("0000:00:1e.0", {}, 0)};
  const Host host = lay_out(std::move(machine));
  ASSERT_EQ(host.cpus.size(), 2U);
  EXPECT_EQ(host.cpus[0].numa, 0);  // the first GPU by bus id leads
  EXPECT_EQ(host.cpus[0].pci[0].gpu->rank, 0);
  EXPECT_EQ(host.cpus[1].numa, 1);
  EXPECT_EQ(host.cpus[1].pci[0].bus_id, "0000:01:00.0");
  EXPECT_EQ(host.cpus[1].pci[0].gpu->rank, 1);
}

TEST(PciTree, SwitchesBelowSwitchesKeepTheirOrder) {
  FoundMachine machine;
  machine.cpus = {{.numa = 0}};
  machine.gpus = {gpu_at("0000:09:00.0", {"0000:08:00.0", "0000:07:00.0", "0000:03:01.0",
                                          "0000:02:00.0", "0000:00:01.0"})};
  const Host host = lay_out(std::move(machine));
  const HostPci& outer = host.cpus[0].pci[0];
  EXPECT_EQ(outer.bus_id, "0000:02:00.0");
  EXPECT_EQ(outer.children[0].bus_id, "0000:07:00.0");
  EXPECT_TRUE(outer.children[0].children[0].gpu);
}

TEST(PciTree, ABridgeThatRepresentsASwitchIsOne) {
  FoundMachine machine;
  machine.cpus = {{.numa = 0}};
  machine.gpus = {gpu_at("0000:18:00.0", {"0000:16:01.0"})};
  machine.gpus[0].above[0].is_switch = true;
  const Host host = lay_out(std::move(machine));
  EXPECT_EQ(host.cpus[0].pci[0].bus_id, "0000:16:01.0");
}

// NCCL's order: the first GPU, then every NIC, then the other GPUs.
TEST(PciTree, NicsFollowTheFirstGpu) {
  FoundMachine machine;
  machine.cpus = {{.numa = 0}};
  machine.gpus = {gpu_at("0000:20:00.0", {}), gpu_at("0000:10:00.0", {})};
  machine.nics = {nic_at("0000:05:00.0", {}), nic_at("", {})};
  const Host host = lay_out(std::move(machine));
  ASSERT_EQ(host.cpus[0].pci.size(), 3U);
  EXPECT_EQ(host.cpus[0].pci[0].bus_id, "0000:10:00.0");
  EXPECT_EQ(host.cpus[0].pci[1].bus_id, "0000:05:00.0");
  EXPECT_EQ(host.cpus[0].pci[2].bus_id, "0000:20:00.0");
  ASSERT_EQ(host.cpus[0].nics.size(), 1U);
  EXPECT_EQ(host.cpus[0].nics[0].nets[0].dev, 1);
}

TEST(PciTree, AMachineWithoutGpusKeepsItsProcessors) {
  FoundMachine machine;
  machine.cpus = {{.numa = 0}, {.numa = 1}};
  EXPECT_EQ(lay_out(std::move(machine)).cpus.size(), 2U);
}

}  // namespace
}  // namespace ringside
