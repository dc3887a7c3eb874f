#include "engine/cuda/device/gpu_direct.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

namespace ringside {
namespace {

Result<GpuDirectSettings> settings_of(const std::map<std::string, std::string>& variables) {
  return gpu_direct_settings([&](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  });
}

constexpr auto kNeedless = AdapterAccess::Flush::Needless;
constexpr auto kNone = AdapterAccess::Flush::None;

AdapterAccess a_gpu(int compute_capability = 90, AdapterAccess::Flush flush = kNeedless) {
  return {.is_there = true, .compute_capability = compute_capability, .flush = flush};
}

TEST(GpuDirect, FollowsNcclsVariables) {
  const auto usual = settings_of({});
  ASSERT_TRUE(usual);
  EXPECT_EQ(usual->level, PathType::Pxb);
  EXPECT_FALSE(usual->reads.has_value());
  EXPECT_TRUE(usual->uses_dmabuf);
  const auto set = settings_of(
      {{"NCCL_NET_GDR_LEVEL", "SYS"}, {"NCCL_NET_GDR_READ", "0"}, {"NCCL_DMABUF_ENABLE", "0"}});
  ASSERT_TRUE(set);
  EXPECT_EQ(set->level, PathType::Sys);
  EXPECT_EQ(set->reads, false);
  EXPECT_FALSE(set->uses_dmabuf);
  EXPECT_FALSE(settings_of({{"NCCL_NET_GDR_LEVEL", "NEAR"}}));
  EXPECT_FALSE(settings_of({{"NCCL_DMABUF_ENABLE", "2"}}));
}

TEST(GpuDirect, ReceivesWhereKernelsSeeWhatAdaptersHaveWritten) {
  EXPECT_TRUE(may_lend({}, a_gpu(70), true));
  EXPECT_TRUE(may_lend({}, a_gpu(80, AdapterAccess::Flush::ByHost), true));
  EXPECT_FALSE(may_lend({}, a_gpu(80, kNone), true));
  EXPECT_FALSE(may_lend({}, {}, true));
  EXPECT_FALSE(may_lend({.level = PathType::Loc}, a_gpu(), true));
}

TEST(GpuDirect, SendsFromAmpereOnOrAsRequested) {
  EXPECT_TRUE(may_lend({}, a_gpu(80, kNone), false));
  EXPECT_FALSE(may_lend({}, a_gpu(75), false));
  EXPECT_TRUE(may_lend({.reads = true}, a_gpu(75), false));
  EXPECT_FALSE(may_lend({.reads = false}, a_gpu(90), false));
}

TEST(GpuDirect, SendsFromAnOlderGpuWithNvlinkOrWithoutOtherGpus) {
  AdapterAccess linked = a_gpu(70);
  linked.has_nvlink_peer = true;
  EXPECT_TRUE(may_lend({}, linked, false));
  EXPECT_FALSE(may_lend({.reads = false}, linked, false));
  AdapterAccess alone = a_gpu(70);
  alone.is_only_gpu = true;
  EXPECT_TRUE(may_lend({}, alone, false));
  EXPECT_FALSE(may_lend({.reads = false}, alone, false));
  const Status neither = may_lend({}, a_gpu(70), false);
  ASSERT_FALSE(neither);
  EXPECT_EQ(neither.error().help, "set NCCL_NET_GDR_READ=1");
}

/// A PCI tree as the kernel shows it.
class PciTree {
 public:
  PciTree() {
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_ / "bus/pci/devices");
  }
  ~PciTree() { std::filesystem::remove_all(root_); }
  PciTree(const PciTree&) = delete;
  PciTree& operator=(const PciTree&) = delete;

  void add(const std::string& path, int numa) {
    const std::filesystem::path at = root_ / "devices" / path;
    std::filesystem::create_directories(at);
    std::ofstream(at / "numa_node") << numa << '\n';
    std::filesystem::create_directory_symlink(at, root_ / "bus/pci/devices" / at.filename());
  }
  [[nodiscard]] std::string root() const { return root_; }

 private:
  const std::filesystem::path root_ =
      std::filesystem::path(testing::TempDir()) / ("gpu_direct_" + std::to_string(::getpid()));
};

// A switch (17) below a root port, with a GPU and a card; a second one (20) below the first; cards elsewhere.
TEST(GpuDirect, CountsTheSwitchesAndProcessorsBetweenAGpuAndAnAdapter) {
  PciTree tree;
  const std::string port = "pci0000:16/0000:16:02.0/0000:17:00.0/";
  tree.add(port + "0000:18:00.0/0000:19:00.0", 0);
  tree.add(port + "0000:18:01.0/0000:1a:00.0", 0);
  tree.add(port + "0000:18:02.0/0000:20:00.0/0000:21:00.0/0000:22:00.0", 0);
  tree.add("pci0000:16/0000:16:04.0/0000:30:00.0", 0);
  tree.add("pci0000:40/0000:40:01.0/0000:41:00.0", 0);
  tree.add("pci0000:97/0000:97:01.0/0000:98:00.0", 1);
  const auto distance = [&](const char* card) {
    return pci_distance(tree.root(), "0000:19:00.0", card);
  };
  EXPECT_EQ(distance("0000:1a:00"), PathType::Pix);
  EXPECT_EQ(distance("0000:22:00"), PathType::Pxb);
  EXPECT_EQ(distance("0000:30:00"), PathType::Phb);
  EXPECT_EQ(distance("0000:41:00"), PathType::Phb);
  EXPECT_EQ(distance("0000:98:00"), PathType::Sys);
  EXPECT_EQ(distance("rxe0"), PathType::Sys);
}

TEST(GpuDirect, AnAdapterTooFarFromTheGpuIsRejected) {
  AdapterMemory memory{.size = 4096};
  const auto region = adapter_region(std::move(memory), {.level = PathType::Phb}, a_gpu());
  EXPECT_TRUE(region->is_device());
  const Status far = region->suits("0000:98:00");
  ASSERT_FALSE(far);
  EXPECT_NE(far.error().message.find("is SYS; GPUDirect is used up to PHB"), std::string::npos)
      << far.error().message;
  EXPECT_TRUE(adapter_region({}, {.level = PathType::Sys}, a_gpu())->suits("0000:98:00"));
}

}  // namespace
}  // namespace ringside
