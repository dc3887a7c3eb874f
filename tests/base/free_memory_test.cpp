#include "base/free_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace ringside {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// An invented host of 8 GiB below a folder.
class FreeMemoryOf : public testing::Test {
 protected:
  FreeMemoryOf() {
    fs::remove_all(root_);
    put("proc/meminfo", "MemTotal: 16777216 kB\nMemAvailable:    8388608 kB\nSwapFree: 1000 kB\n");
  }
  ~FreeMemoryOf() override { fs::remove_all(root_); }

  void put(const std::string& path, const std::string& text) const {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  void put_group(const std::string& folder, const std::string& limit, Bytes usage,
                 Bytes cache = {}) const {
    put("sys/fs/cgroup/" + folder + "memory.max", limit + "\n");
    put("sys/fs/cgroup/" + folder + "memory.current", std::to_string(usage.value) + "\n");
    put("sys/fs/cgroup/" + folder + "memory.stat",
        "anon 7\nactive_file 4096\ninactive_file " + std::to_string(cache.value) + "\n");
  }

  const fs::path root_ = testing::TempDir() + "ringside_memory_" + std::to_string(::getpid());
};

TEST_F(FreeMemoryOf, AHostWithoutGroupsHasItsAvailableMemory) {
  const auto free = free_memory(root_);
  ASSERT_TRUE(free);
  EXPECT_EQ(free->bytes, 8_GiB);
  EXPECT_EQ(free->where, "on this host");
  EXPECT_FALSE(free_memory(root_ / "nothing"));
}

// 4 GiB - (3 GiB in use - 1 GiB of cache - 4096 bytes of active cache) = 2 GiB + 4096.
TEST_F(FreeMemoryOf, AGroupsLimitCountsAndItsPageCacheIsFree) {
  put("proc/self/cgroup", "0::/job\n");
  put_group("job/", "4294967296", 3_GiB, 1_GiB);
  const auto free = free_memory(root_);
  EXPECT_EQ(free->bytes, 2_GiB + 4_KiB);
  EXPECT_EQ(free->where, "in control group /job");
}

TEST_F(FreeMemoryOf, TheGroupsAboveCountAndOneWithoutALimitDoesNot) {
  put("proc/self/cgroup", "0::/above/job\n");
  put_group("above/job/", "max", 100_GiB);
  put_group("above/", "1073741824", 1_GiB);  // 1 GiB, of which 4096 bytes are cache
  const auto free = free_memory(root_);
  EXPECT_EQ(free->bytes, 4_KiB);
  EXPECT_EQ(free->where, "in control group /above");
}

TEST_F(FreeMemoryOf, AContainerThatSeesItsOwnGroupAsTheTopmostIsLimited) {
  put("proc/self/cgroup", "0::/docker/0123\n");
  put_group("", "1073741824", 0_B);
  EXPECT_EQ(free_memory(root_)->bytes, 1_GiB);
}

TEST_F(FreeMemoryOf, VersionOneOfControlGroupsCountsToo) {
  put("proc/self/cgroup", "9:name=systemd:/job\n4:cpu,memory:/job\n0::/\n");
  put("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "1073741824\n");
  put("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "536870912\n");
  put("sys/fs/cgroup/memory/job/memory.stat", "inactive_file 9\ntotal_inactive_file 1048576\n");
  EXPECT_EQ(free_memory(root_)->bytes, 513_MiB);
}

TEST_F(FreeMemoryOf, LinesThatAreNoneAreSkipped) {
  put("proc/self/cgroup", "\n:\n0::\n0::no-slash\n5:memory:\n");
  EXPECT_EQ(free_memory(root_)->bytes, 8_GiB);
}

TEST_F(FreeMemoryOf, RefusesTooLargeSizesAndNamesBothFigures) {
  EXPECT_TRUE(check_memory(8_GiB, "a job", "ask for less", root_));
  const Status refused = check_memory(Bytes{3ULL << 40}, "a job", "ask for less", root_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(exit_status(refused.error().code), 3);
  EXPECT_EQ(refused.error().message,
            "a job would take 3.0 TiB of memory, but only 8.0 GiB are free on this host");
  EXPECT_EQ(refused.error().help, "ask for less");
  EXPECT_TRUE(check_memory(Bytes{3ULL << 40}, "a job", "", root_ / "nothing"));
}

}  // namespace
}  // namespace ringside
