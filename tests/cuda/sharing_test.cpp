#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <vector>

#include "engine/cuda/device/process_memory.h"
#include "tests/cuda/device_under_test.h"

namespace ringside {
namespace {

constexpr Bytes kSize{5000};
/// The process with which memory is shared as if it were another one.
constexpr ProcessIdentity kSomebody{1, 2};

std::vector<std::byte> bytes_from(int first) {
  std::vector<std::byte> bytes(kSize.value);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(first + static_cast<int>(i % 7));
  }
  return bytes;
}

std::vector<std::byte> read_all(DeviceMemory& memory, const std::byte* from) {
  std::vector<std::byte> bytes(kSize.value);
  const Status read = memory.read(bytes, from);
  EXPECT_TRUE(read) << read.error().message;
  return bytes;
}

/// The memory of two ranks, on two devices if there are two.
class CudaSharing : public testing::TestWithParam<MemoryAccess> {
 protected:
  void SetUp() override {
    for (int rank = 0; rank < 2; ++rank) {
      auto made = make_device({.has_others = true, .shares_by = GetParam(), .number = rank});
      if (!made && is_absent(made.error())) GTEST_SKIP() << made.error().message;
      ASSERT_TRUE(made) << made.error().message;
      devices_.push_back(*std::move(made));
    }
    if (GetParam() == MemoryAccess::File && !memory(0).place().shares_by_file) {
      GTEST_SKIP() << "the GPU has no cuMem handles";
    }
    const auto taken = memory(0).take_to_share(kSize, GetParam());
    ASSERT_TRUE(taken) << taken.error().message;
    taken_ = *taken;
  }
  DeviceMemory& memory(std::size_t rank) { return devices_[rank]->launcher().memory; }

  std::vector<std::unique_ptr<DeviceUnderTest>> devices_;
  std::byte* taken_ = nullptr;  ///< of rank 0
};

TEST_P(CudaSharing, IsZeroAtFirst) {
  EXPECT_EQ(read_all(memory(0), taken_), std::vector<std::byte>(kSize.value));
}

TEST_P(CudaSharing, RanksOfOneProcessSeeEachOthersWrites) {
  const auto share = memory(0).share(taken_, process_identity());
  ASSERT_TRUE(share) << share.error().message;
  EXPECT_EQ(share->handle.access, MemoryAccess::Address);
  EXPECT_FALSE(share->file);
  const auto opened = memory(1).open(*share);
  ASSERT_TRUE(opened) << opened.error().message;
  ASSERT_TRUE(memory(0).write(taken_, bytes_from(1)));
  EXPECT_EQ(read_all(memory(1), *opened), bytes_from(1));
  ASSERT_TRUE(memory(1).write(*opened, bytes_from(9)));
  EXPECT_EQ(read_all(memory(0), taken_), bytes_from(9));
}

// A user's buffer is a part of what the program has allocated.
TEST_P(CudaSharing, OffsetsInOpenedMemoryArePreserved) {
  constexpr std::size_t kAt = 768;
  ASSERT_TRUE(memory(0).write(taken_, bytes_from(2)));
  for (const ProcessIdentity& with : {process_identity(), kSomebody}) {
    const bool is_ipc = with == kSomebody && GetParam() == MemoryAccess::Ipc;
    const auto share = memory(0).share(taken_ + kAt, with);
    ASSERT_TRUE(share) << share.error().message;
    EXPECT_EQ(share->handle.offset, kAt);
    if (is_ipc) continue;  // opened in another process alone
    const auto opened = memory(1).open(*share);
    ASSERT_TRUE(opened) << opened.error().message;
    std::vector<std::byte> there(100);
    ASSERT_TRUE(memory(1).read(there, *opened));
    const std::vector<std::byte> all = bytes_from(2);
    EXPECT_TRUE(std::ranges::equal(there, std::span(all).subspan(kAt, there.size())));
  }
}

// The rank's kernels may still run after the owner has given up.
TEST_P(CudaSharing, OpenedMemoryOutlivesItsOwner) {
  const auto share = memory(0).share(taken_, process_identity());
  ASSERT_TRUE(share);
  const auto opened = memory(1).open(*share);
  ASSERT_TRUE(opened) << opened.error().message;
  ASSERT_TRUE(memory(0).write(taken_, bytes_from(3)));
  devices_[0].reset();
  EXPECT_EQ(read_all(memory(1), *opened), bytes_from(3));
}

TEST_P(CudaSharing, AnOwnerThatHasGoneIsAnError) {
  const auto share = memory(0).share(taken_, process_identity());
  ASSERT_TRUE(share);
  devices_[0].reset();
  const auto opened = memory(1).open(*share);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::System);
}

TEST_P(CudaSharing, AnAddressOfAnotherProcessIsRefused) {
  auto share = memory(0).share(taken_, process_identity());
  ASSERT_TRUE(share);
  ++share->handle.process.number;
  const auto opened = memory(1).open(*share);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::Corrupt);
}

// cuMem accepts a file from anywhere; CUDA IPC accepts no handle of its own process, so addresses are used there.
TEST_P(CudaSharing, OtherProcessesGetAHandleOfTheKindThatWasTaken) {
  const auto share = memory(0).share(taken_, kSomebody);
  ASSERT_TRUE(share) << share.error().message;
  EXPECT_EQ(share->handle.access, GetParam());
  EXPECT_EQ(bool{share->file}, GetParam() == MemoryAccess::File);
  const auto opened = memory(1).open(*share);
  ASSERT_EQ(bool{opened}, GetParam() == MemoryAccess::File);
  if (!opened) return;
  ASSERT_TRUE(memory(1).write(*opened, bytes_from(5)));
  EXPECT_EQ(read_all(memory(0), taken_), bytes_from(5));
}

INSTANTIATE_TEST_SUITE_P(Ways, CudaSharing, testing::Values(MemoryAccess::Ipc, MemoryAccess::File),
                         [](const auto& test) {
                           return test.param == MemoryAccess::File ? std::string("File") : "Ipc";
                         });

constexpr ProcessIdentity kHere{1, 1}, kThere{2, 1};

TEST(MemoryAccesses, FilesAreUsedWhereEveryRankHasThem) {
  const DevicePlace has{.process = kHere, .shares_by_ipc = true, .shares_by_file = true};
  const DevicePlace has_not{.process = kThere, .shares_by_ipc = true};
  EXPECT_EQ(access_between_processes(std::array{has, has}), MemoryAccess::File);
  EXPECT_EQ(access_between_processes(std::array{has, has_not}), MemoryAccess::Ipc);
}

TEST(MemoryAccesses, AreAsRequestedOrRefused) {
  const DevicePlace has{.shares_by_ipc = true, .shares_by_file = true};
  const DevicePlace has_not{.shares_by_ipc = true};
  EXPECT_TRUE(with_settings(has, {})->shares_by_file);
  EXPECT_TRUE(with_settings(has, {.by_file = true})->shares_by_file);
  EXPECT_FALSE(with_settings(has, {.by_file = false})->shares_by_file);
  EXPECT_FALSE(with_settings(has_not, {})->shares_by_file);
  const auto refused = with_settings(has_not, {.by_file = true});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::Unsupported);
  EXPECT_TRUE(with_settings(has_not, {.may_open = false, .by_file = true}));
}

// Under WSL there is no IPC, which threads do not need.
TEST(MemoryAccesses, ThreadsOpenAddressesAndProcessesWhatBothHave) {
  const DevicePlace bare{.process = kHere};
  const DevicePlace bare_there{.process = kThere};
  const DevicePlace ipc{.process = kHere, .shares_by_ipc = true};
  const DevicePlace ipc_there{.process = kThere, .shares_by_ipc = true};
  EXPECT_TRUE(can_open(bare, bare, MemoryAccess::Ipc));
  EXPECT_FALSE(can_open(bare, ipc_there, MemoryAccess::Ipc));
  EXPECT_FALSE(can_open(ipc, bare_there, MemoryAccess::Ipc));
  EXPECT_TRUE(can_open(ipc, ipc_there, MemoryAccess::Ipc));
  EXPECT_TRUE(can_open(bare, bare_there, MemoryAccess::File));
}

TEST(ProcessMemory, IsReleasedOnceWhenTheLastHolderGoes) {
  std::byte there{};
  int released = 0;
  ProcessMemory offered = offer_memory(&there, [&](std::byte* /*memory*/) { ++released; });
  {
    const auto opened = find_memory(&there);
    ASSERT_TRUE(opened);
    offered.reset();
    EXPECT_EQ(released, 0);
  }
  EXPECT_EQ(released, 1);
  EXPECT_FALSE(find_memory(&there));
}

TEST(ProcessIdentity, IsAnotherAfterAFork) {
  const ProcessIdentity mine = process_identity();
  EXPECT_EQ(process_identity(), mine);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(process_identity() == mine ? 1 : 0);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace ringside
