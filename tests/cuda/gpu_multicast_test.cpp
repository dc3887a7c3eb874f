#include "engine/cuda/gpu/gpu_multicast.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/cuda/fake_driver.h"

namespace ringside {
namespace {

constexpr DeviceMulticast::Shape kPair{.members = 2, .size = Bytes{5000}};

std::unique_ptr<DeviceMulticast> member(const FakeDriver& driver, int device) {
  return make_gpu_multicast(driver.functions(), driver.multicast_functions(), device);
}

void expect_no_share_left(const FakeDriver& driver) {
  EXPECT_EQ(driver.mapped(), 0);
  EXPECT_EQ(driver.reserved(), 0);
  EXPECT_EQ(driver.handles(), 0);
}

// Each member has a share of its own, and an address for all shares; the object and the bound memory are released with
// the last member that has them.
TEST(GpuMulticast, EachMemberHasAShareAndAnAddressOfAll) {
  const FakeDriver driver;
  {
    const auto first = member(driver, 0), second = member(driver, 1);
    auto file = first->make(kPair);
    ASSERT_TRUE(file) << file.error().message;
    ASSERT_TRUE(first->join(*file, kPair, 0));
    ASSERT_TRUE(second->join(*file, kPair, 1));
    const auto one = first->bind(), other = second->bind();
    ASSERT_TRUE(one) << one.error().message;
    ASSERT_TRUE(other) << other.error().message;
    EXPECT_EQ(driver.bound(), 2);
    EXPECT_EQ(driver.mapped(), 4);
    std::memset(one->own, 1, kPair.size.value);
    std::memset(other->own, 2, kPair.size.value);
    EXPECT_EQ(one->own[17], std::byte{1});
    EXPECT_EQ(one->all[17], std::byte{0});
  }
  expect_no_share_left(driver);
}

// This is the required order of calls: a driver waits here for members that have not joined.
TEST(GpuMulticast, NoMemberBindsBeforeAllHaveJoined) {
  const FakeDriver driver;
  const auto first = member(driver, 0);
  const auto file = first->make(kPair);
  ASSERT_TRUE(file);
  ASSERT_TRUE(first->join(*file, kPair, 0));
  EXPECT_FALSE(first->bind());
}

TEST(GpuMulticast, ARefusalNamesTheAlternativeAndFreesEverything) {
  for (const char* const fails :
       {"cuMulticastCreate", "cuMulticastAddDevice", "cuMulticastBindMem", "cuMemCreate"}) {
    const FakeDriver driver(fails);
    {
      const auto only = member(driver, 0);
      constexpr DeviceMulticast::Shape kOne{.members = 1, .size = Bytes{5000}};
      const auto run = [&]() -> Status {
        RINGSIDE_TRY(const UniqueFd file, only->make(kOne));
        RINGSIDE_TRY(only->join(file, kOne, 0));
        RINGSIDE_TRY(only->bind());
        return {};
      };
      const Status status = run();
      ASSERT_FALSE(status) << fails;
      EXPECT_NE(status.error().message.find(fails), std::string::npos) << status.error().message;
      EXPECT_NE(status.error().help.find("NCCL_NVLS_ENABLE=0"), std::string::npos) << fails;
    }
    expect_no_share_left(driver);
  }
}

}  // namespace
}  // namespace ringside
