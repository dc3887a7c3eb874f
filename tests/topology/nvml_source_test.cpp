#include "engine/topology/sources/nvml_source.h"

#include <gtest/gtest.h>

#include <vector>

namespace ringside {
namespace {

/// A driver that reports what a test sets.
class FakeNvml final : public NvmlDriver {
 public:
  struct Gpu {
    std::string bus_id;
    int sm = 90;
    std::vector<std::string> links = {};  ///< far end by link; empty: the link is down
    std::optional<HostC2c> c2c = {};
  };
  explicit FakeNvml(std::vector<Gpu> gpus) : gpus_(std::move(gpus)) {}

  Result<int> device_count() override { return static_cast<int>(gpus_.size()); }
  Result<std::string> bus_id(int device) override {
    if (device == broken_) return Error{ErrorCode::System, "NVML: GPU is lost"};
    return at(device).bus_id;
  }
  Result<int> compute_capability(int device) override { return at(device).sm; }
  std::optional<std::string> link_remote(int device, int link) override {
    const auto i = static_cast<std::size_t>(link);
    const auto& links = at(device).links;
    if (i >= links.size() || links[i].empty()) return std::nullopt;
    return links[i];
  }
  std::optional<HostC2c> c2c(int device) override { return at(device).c2c; }

  int broken_ = -1;

 private:
  const Gpu& at(int device) const { return gpus_[static_cast<std::size_t>(device)]; }
  std::vector<Gpu> gpus_;
};

FoundMachine machine_with(const std::vector<std::string>& bus_ids) {
  FoundMachine machine;
  machine.cpus.push_back({.numa = 0});
  for (const std::string& bus_id : bus_ids) {
    FoundDevice gpu;
    gpu.function = {.bus_id = bus_id, .device_class = 0x030200, .gpu = HostGpu{.gdr = true}};
    machine.gpus.push_back(std::move(gpu));
  }
  return machine;
}

TEST(NvmlSource, CountsLinksByFarEndInTheOrderOfTheLinks) {
  FoundMachine machine = machine_with({"0000:1b:00.0", "0000:43:00.0"});
  FakeNvml driver{
      {{"00000000:1B:00.0", 80, {"00000000:C4:00.0", "00000000:43:00.0", "", "00000000:C4:00.0"}},
       {"00000000:43:00.0", 80}}};
  ASSERT_TRUE(add_nvml(machine, driver));
  const HostGpu& gpu = *machine.gpus[0].function.gpu;
  EXPECT_EQ(gpu.sm, 80);
  ASSERT_EQ(gpu.nvlinks.size(), 2U);
  EXPECT_EQ(gpu.nvlinks[0].target, "0000:c4:00.0");  // not a GPU of the machine: an NVSwitch
  EXPECT_EQ(gpu.nvlinks[0].target_class, 0x068000U);
  EXPECT_EQ(gpu.nvlinks[0].count, 2);
  EXPECT_EQ(gpu.nvlinks[1].target, "0000:43:00.0");
  EXPECT_EQ(gpu.nvlinks[1].target_class, 0x030200U);
  EXPECT_EQ(gpu.nvlinks[1].count, 1);
}

TEST(NvmlSource, QueriesOnlyTheLinksOfItsGeneration) {
  FoundMachine machine = machine_with({"0000:06:00.0"});
  FakeNvml driver{{{"00000000:06:00.0", 70, std::vector<std::string>(18, "00000000:C4:00.0")}}};
  ASSERT_TRUE(add_nvml(machine, driver));
  EXPECT_EQ(machine.gpus[0].function.gpu->nvlinks[0].count, 6);  // V100
  EXPECT_EQ(max_nvlinks(52), 0);
  EXPECT_EQ(max_nvlinks(60), 4);
  EXPECT_EQ(max_nvlinks(80), 12);
  EXPECT_EQ(max_nvlinks(100), 18);
}

TEST(NvmlSource, UsesTheDriversListOfGpus) {
  // A container shows one of hwloc's two GPUs, and one that hwloc did not see.
  FoundMachine machine = machine_with({"0000:1b:00.0", "0000:43:00.0"});
  FakeNvml driver{{{"00000000:43:00.0"}, {"00000000:9D:00.0"}}};
  ASSERT_TRUE(add_nvml(machine, driver));
  const Host host = lay_out(std::move(machine));
  ASSERT_EQ(host.cpus.size(), 1U);
  ASSERT_EQ(host.cpus[0].pci.size(), 2U);
  EXPECT_EQ(host.cpus[0].pci[0].bus_id, "0000:43:00.0");
  EXPECT_EQ(host.cpus[0].pci[1].bus_id, "0000:9d:00.0");
  EXPECT_EQ(host.cpus[0].pci[1].gpu->dev, 1);
}

TEST(NvmlSource, KeepsAWideDomainAndTheLinksToTheCpu) {
  FoundMachine machine = machine_with({"0009:01:00.0"});
  FakeNvml driver{{{"00000009:01:00.0", 90, {}, HostC2c{44712, 10}}}};
  ASSERT_TRUE(add_nvml(machine, driver));
  ASSERT_EQ(machine.gpus.size(), 1U);
  EXPECT_EQ(machine.gpus[0].function.bus_id, "0009:01:00.0");
  EXPECT_EQ(machine.gpus[0].function.gpu->c2c->count, 10);
}

TEST(NvmlSource, ALostGpuIsAnError) {
  FoundMachine machine = machine_with({"0000:1b:00.0"});
  FakeNvml driver{{{"00000000:1B:00.0"}}};
  driver.broken_ = 0;
  const Status status = add_nvml(machine, driver);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "NVML: GPU is lost");
}

TEST(NvmlSource, IsNullWithoutADriver) {
  if (const auto driver = open_nvml()) GTEST_SKIP() << "this machine has an NVIDIA driver";
  EXPECT_EQ(open_nvml(), nullptr);
}

}  // namespace
}  // namespace ringside
