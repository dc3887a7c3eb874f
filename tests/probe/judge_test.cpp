#include "harness/probe/judge.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/probe/made_up_machine.h"

namespace ringside::probe {
namespace {

using audit::Severity;

std::vector<std::string> ids_of(const MadeUpMachine& made) {
  std::vector<std::string> ids;
  for (const audit::Finding& one : judge(read_machine(made.sources))) ids.push_back(one.id);
  return ids;
}

using Ids = std::vector<std::string>;

TEST(ProbeJudge, AHealthyMachineGivesNoFinding) { EXPECT_EQ(ids_of(MadeUpMachine()), Ids{}); }

TEST(ProbeJudge, ReadsTheMachine) {
  const MadeUpMachine made;
  const Machine machine = read_machine(made.sources);
  ASSERT_EQ(machine.rdma.size(), 2u);
  EXPECT_EQ(machine.rdma[0].device, "mlx5_0");
  EXPECT_EQ(machine.rdma[0].state, "ACTIVE");
  EXPECT_EQ(machine.rdma[0].gigabits(), 400);
  ASSERT_EQ(machine.rdma[0].gids.size(), 2u);  // the empty one is omitted
  EXPECT_EQ(machine.rdma[0].gids[1].index, 3);
  ASSERT_EQ(machine.gpus.size(), 1u);
  EXPECT_EQ(machine.gpus[0].model, "NVIDIA H100");
  const Plan plan = plan_of(machine);
  EXPECT_EQ(plan.interface, "eth0 (10.0.0.7)");
  EXPECT_EQ(plan.backend, "nccl");
  EXPECT_EQ(plan.rdma_devices, (Ids{"mlx5_0:1", "mlx5_1:1"}));
}

TEST(ProbeJudge, AGpuWhoseDriverNamesNoModel) {
  const MadeUpMachine made;
  made.write("/proc/driver/nvidia/gpus/0000:1b:00.0/information", "IRQ: 1\nModel:");
  const Machine machine = read_machine(made.sources);
  ASSERT_EQ(machine.gpus.size(), 1u);
  EXPECT_EQ(machine.gpus[0].model, "");
}

TEST(ProbeJudge, WithoutGpusGlooIsToBeTaken) {
  const MadeUpMachine made;
  made.remove("/sys/bus/pci");
  EXPECT_EQ(plan_of(read_machine(made.sources)).backend, "gloo");
}

TEST(ProbeJudge, ABackendThatPyTorchLacksIsNotTaken) {
  MadeUpMachine made;
  made.sources.pytorch_text = "version 2.6.0\npython /usr/bin/python3\noffers gloo\n";
  EXPECT_EQ(plan_of(read_machine(made.sources)).backend, "gloo")
      << "libnccl.so.2 alone is of no use";
  made.sources.pytorch_text += "offers nccl\n";
  const Machine machine = read_machine(made.sources);
  EXPECT_EQ(plan_of(machine).backend, "nccl");
  std::string lacking;
  for (const Backend& one : machine.pytorch.backends) {
    EXPECT_EQ(one.version.empty(), !one.from.empty())
        << one.name << ": missing ones say how to get them";
    if (one.version.empty()) lacking += one.name + " ";
  }
  EXPECT_EQ(lacking, "nccl2 mpi ucc ringside ");
  EXPECT_EQ(read_pytorch("").version, "");
  EXPECT_EQ(read_pytorch("late does not answer\n").python, "python3 does not answer");
  EXPECT_EQ(read_pytorch("version 2\x1b[31m\n").version, "2\\x1b[31m");
}

TEST(ProbeJudge, InfiniBandWithoutIpIsForMpi) {
  MadeUpMachine made;
  made.remove("/sys/bus/pci");
  made.sources.backends = {{"mpi", "4.1", ""}, {"gloo", "0.5.0", ""}};
  for (const char* card : {"mlx5_0", "mlx5_1"}) {
    made.write(std::string("/sys/class/infiniband/") + card + "/ports/1/link_layer",
               "InfiniBand\n");
  }
  EXPECT_EQ(plan_of(read_machine(made.sources)).backend, "mpi");
  made.sources.interfaces.push_back({.name = "ib0", .address = {}, .is_up = true});
  made.sources.interfaces.back().address.ip = {10, 1, 0, 7};
  made.write("/sys/class/net/ib0/type", "32");  // ARPHRD_INFINIBAND
  made.write("/sys/class/net/ib0/flags", "0x1003");
  EXPECT_EQ(plan_of(read_machine(made.sources)).backend, "gloo");
}

TEST(ProbeJudge, APortThatIsDownOrHasNoSubnetManager) {
  const MadeUpMachine made;
  made.write("/sys/class/infiniband/mlx5_1/ports/1/state", "2: INIT\n");
  EXPECT_EQ(ids_of(made), Ids{"rdma_port_down"});
  // A port that was never cabled is normal while another one works.
  made.write("/sys/class/infiniband/mlx5_1/ports/1/state", "1: DOWN\n");
  made.write("/sys/class/infiniband/mlx5_1/ports/1/phys_state", "3: Disabled\n");
  EXPECT_EQ(ids_of(made), Ids{});
  made.write("/sys/class/infiniband/mlx5_0/ports/1/state", "1: DOWN\n");
  EXPECT_EQ(ids_of(made), (Ids{"rdma_port_down", "rdma_port_down", "no_rdma_device"}));
}

TEST(ProbeJudge, ARailThatIsSlowerThanItsSisters) {
  const MadeUpMachine made;
  made.write("/sys/class/infiniband/mlx5_1/ports/1/rate", "100 Gb/sec (1X NDR)\n");
  EXPECT_EQ(ids_of(made), Ids{"link_degraded"});
}

TEST(ProbeJudge, NoGidOfRoceV2) {
  const MadeUpMachine made;
  made.remove("/sys/class/infiniband/mlx5_0/ports/1/gids/3");
  EXPECT_EQ(ids_of(made), Ids{"gid_index"});
}

TEST(ProbeJudge, AGidIndexThatNamesAnEmptyEntry) {
  MadeUpMachine made;
  made.sources.variables["NCCL_IB_GID_INDEX"] = "3";
  EXPECT_EQ(ids_of(made), Ids{});
  made.sources.variables["NCCL_IB_GID_INDEX"] = "4";
  EXPECT_EQ(ids_of(made), (Ids{"gid_index", "gid_index"}));
}

TEST(ProbeJudge, SettingsThatTheEngineRefuses) {
  MadeUpMachine made;
  made.sources.variables["NCCL_IB_TIMEOUT"] = "99";
  EXPECT_EQ(ids_of(made), Ids{"env_override"});
  made.sources.variables["NCCL_IB_TIMEOUT"] = "abc";
  EXPECT_EQ(ids_of(made), Ids{"env_override"});
  made.sources.variables = {{"NCCL_IB_GID_INDEX", "abc"}};
  EXPECT_EQ(ids_of(made), Ids{"env_override"});
  made.sources.variables = {{"NCCL_SOCKET_NTHREADS", "16"}, {"NCCL_NSOCKS_PERTHREAD", "16"}};
  EXPECT_EQ(ids_of(made), Ids{"env_override"});
  made.sources.variables = {{"NCCL_SOCKET_NTHREADS", "4"}, {"NCCL_NSOCKS_PERTHREAD", "16"}};
  EXPECT_EQ(ids_of(made), Ids{});
  made.sources.variables = {{"NCCL_IB_HCA", "=nope:9"}};
  EXPECT_EQ(ids_of(made), Ids{"no_rdma_device"});
  made.sources.variables = {{"NCCL_IB_HCA", "^mlx5_0"}};
  EXPECT_EQ(ids_of(made), Ids{});
}

TEST(ProbeJudge, APortOfAnotherNamespaceIsNotJudged) {
  const MadeUpMachine made;
  const std::string port = "/sys/class/infiniband/mlx5_1/ports/1";
  made.write(port + "/gids/3", "0000:0000:0000:0000:0000:ffff:0a63:0009\n");
  made.write(port + "/gid_attrs/types/3", "IB/RoCE v1\n");
  EXPECT_EQ(ids_of(made), Ids{});
}

TEST(ProbeJudge, TheSuggestedInterfaceExistsOnThisMachine) {
  MadeUpMachine made;
  made.sources.variables["NCCL_SOCKET_IFNAME"] = "lo";
  const auto findings = judge(read_machine(made.sources));
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].fix, "export NCCL_SOCKET_IFNAME=eth0   # or unset it");
  made.sources.interfaces[1].name = "ens5";
  EXPECT_EQ(judge(read_machine(made.sources)).at(0).fix,
            "export NCCL_SOCKET_IFNAME=ens5   # or unset it");
}

TEST(ProbeJudge, NoVerbsNode) {
  const MadeUpMachine made;
  made.remove("/dev/infiniband/uverbs0");
  EXPECT_EQ(ids_of(made), Ids{"ib_device_unusable"});
}

TEST(ProbeJudge, AVerbsNodeThatMayNotBeOpened) {
  MadeUpMachine made;
  Machine machine = read_machine(made.sources);
  // Root can open all files, so the file system does not decide.
  machine.verbs_nodes.at(0).is_usable = false;
  const auto findings = judge(machine);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].id, "ib_device_unusable");
  EXPECT_NE(findings[0].title.find("uverbs0"), std::string::npos);
}

TEST(ProbeJudge, PeerMemoryIsMissingUnlessTheDriverIsOpen) {
  const MadeUpMachine made;
  made.remove("/sys/module/nvidia_peermem");
  EXPECT_EQ(ids_of(made), Ids{"gdr_missing"});
  made.write("/proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX Open Kernel Module\n");
  EXPECT_EQ(ids_of(made), Ids{});
}

TEST(ProbeJudge, AccessControlIsOn) {
  const MadeUpMachine made;
  std::string config(4096, '\0');
  // At 0x100 error reporting (1, version 1), which leads to 0x148; there ACS (0x0d), control 0x1d.
  config[0x100] = 1, config[0x102] = static_cast<char>(0x81), config[0x103] = 0x14;
  config[0x148] = 0x0d, config[0x14a] = 1, config[0x14e] = 0x1d;
  made.write("/sys/bus/pci/devices/0000:1a:00.0/config", config);
  EXPECT_EQ(ids_of(made), Ids{"pcie_acs"});
  config[0x14e] = 0;
  made.write("/sys/bus/pci/devices/0000:1a:00.0/config", config);
  EXPECT_EQ(ids_of(made), Ids{});
}

TEST(ProbeJudge, TheIommuTranslates) {
  const MadeUpMachine made;
  made.write("/sys/bus/pci/devices/0000:1b:00.0/iommu_group/type", "DMA-FQ\n");
  EXPECT_EQ(ids_of(made), Ids{"pcie_acs"});
}

TEST(ProbeJudge, ASlowClock) {
  const MadeUpMachine made;
  const std::string file = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
  made.write(file, "hpet\n");
  EXPECT_EQ(ids_of(made), Ids{"clock_source"});
  made.write(file, "kvm-clock\n");
  EXPECT_EQ(ids_of(made), Ids{});
}

TEST(ProbeJudge, LimitsAreTooLow) {
  MadeUpMachine made;
  made.sources.limits = {.memlock = 64 << 10, .nofile = 256};
  EXPECT_EQ(ids_of(made), (Ids{"memlock_limit", "fd_limit"}));
  made.remove("/sys/class/infiniband");  // no memory is locked in that case
  EXPECT_EQ(ids_of(made), Ids{"fd_limit"});
  made.sources.limits.nofile = 1024;
  EXPECT_EQ(ids_of(made), Ids{}) << "what a login has everywhere";
}

TEST(ProbeJudge, SharedMemoryIsSmall) {
  MadeUpMachine made;
  made.sources.shm.size = Bytes{64 << 20};
  EXPECT_EQ(ids_of(made), Ids{"shm_exhausted"});
}

TEST(ProbeJudge, OnlyAContainersBridgeIsLeft) {
  MadeUpMachine made;
  made.sources.interfaces[1].name = "docker0";
  EXPECT_EQ(ids_of(made), Ids{"wrong_interface"});
}

TEST(ProbeJudge, AnInterfaceWithAnAddressHasNoCarrier) {
  const MadeUpMachine made;
  made.write("/sys/class/net/eth0/carrier", "0");
  EXPECT_EQ(ids_of(made), Ids{"net_unreachable"});
}

TEST(ProbeJudge, AnInterfaceThatIsOffIsNotSaidToLackAnAnswer) {
  const MadeUpMachine made;
  made.write("/sys/class/net/eth0/flags", "0x1002");
  const std::vector<audit::Finding> found = judge(read_machine(made.sources));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title, "eth0 (10.0.0.7) is switched off");
  EXPECT_EQ(found[0].cause, "an interface with an address is switched off");
  EXPECT_EQ(found[0].fix, "ip link set eth0 up");
}

TEST(ProbeJudge, AnIdleBridgeHasNoCarrier) {
  for (const char* bridge : {"cni0", "podman0", "flannel.1", "lxdbr0", "br-5f", "docker0"}) {
    MadeUpMachine made;
    Interface own = made.sources.interfaces[1];
    own.name = bridge;
    own.is_up = false;
    made.sources.interfaces.push_back(own);
    const std::string net = "/sys/class/net/" + own.name;
    made.write(net + "/type", "1");
    made.write(net + "/flags", "0x1003");
    made.write(net + "/carrier", "0");
    EXPECT_EQ(ids_of(made), Ids{}) << bridge;
  }
}

TEST(ProbeJudge, VariablesThatCost) {
  MadeUpMachine made;
  made.sources.variables["NCCL_IB_DISABLE"] = "1";
  EXPECT_EQ(ids_of(made), Ids{"env_override"});
  made.remove("/sys/class/infiniband");
  EXPECT_EQ(ids_of(made), Ids{});
}

}  // namespace
}  // namespace ringside::probe
