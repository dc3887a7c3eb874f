#include "engine/cuda/gpu/gpu_pages.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "engine/transport/socket/file_passing.h"
#include "tests/cuda/fake_driver.h"
#include "tests/transport/socket_pair.h"

namespace ringside {
namespace {

constexpr Bytes kSize{5000};

Result<MappedGpuPages> fresh_pages(const FakeDriver& driver) {
  RINGSIDE_TRY(GpuPages pages, GpuPages::make(driver.functions(), 0, kSize));
  return MappedGpuPages::map(std::move(pages), 0);
}

void expect_nothing_left(const FakeDriver& driver) {
  EXPECT_EQ(driver.mapped(), 0);
  EXPECT_EQ(driver.reserved(), 0);
  EXPECT_EQ(driver.handles(), 0);
}

TEST(GpuPages, SizeIsAMultipleOfTheGranularityAndTheRequest) {
  const FakeDriver driver;
  const auto pages = GpuPages::make(driver.functions(), 0, kSize);
  ASSERT_TRUE(pages) << pages.error().message;
  EXPECT_EQ(pages->size(), Bytes{FakeDriver::kGranularity});
  const Bytes three_halves{FakeDriver::kGranularity / 2 * 3};
  const auto more = GpuPages::make(driver.functions(), 0, kSize, three_halves);
  ASSERT_TRUE(more);
  EXPECT_EQ(more->size(), Bytes{FakeDriver::kGranularity * 3});
}

TEST(GpuPages, GoWithTheirAddressesWhenTheyAreLetGo) {
  const FakeDriver driver;
  {
    auto pages = fresh_pages(driver);
    ASSERT_TRUE(pages) << pages.error().message;
    MappedGpuPages moved = *std::move(pages);
    std::memset(moved.data(), 7, kSize.value);
    EXPECT_EQ(driver.mapped(), 1);
    EXPECT_EQ(driver.handles(), 1);
    auto others = fresh_pages(driver);
    ASSERT_TRUE(others);
    moved = *std::move(others);  // the first pages are released with `others`
    EXPECT_EQ(moved.data()[0], std::byte{0});
  }
  expect_nothing_left(driver);
}

TEST(GpuPages, PagesAtAnAddressOutliveTheFirstReference) {
  const FakeDriver driver;
  {
    auto owner = fresh_pages(driver);
    ASSERT_TRUE(owner);
    owner->data()[17] = std::byte{4};
    auto pages = GpuPages::at(driver.functions(), owner->data() + 17, owner->pages().size());
    ASSERT_TRUE(pages) << pages.error().message;
    const auto mapped = MappedGpuPages::map(*std::move(pages), 1);
    ASSERT_TRUE(mapped) << mapped.error().message;
    owner = Error{ErrorCode::Aborted, "gone"};
    EXPECT_EQ(mapped->data()[17], std::byte{4});
    EXPECT_EQ(driver.handles(), 1);
  }
  expect_nothing_left(driver);
}

TEST(GpuPages, PagesAreFoundOnlyWhereSomeAreMapped) {
  const FakeDriver driver;
  auto owner = fresh_pages(driver);
  ASSERT_TRUE(owner);
  std::byte* const begin = owner->data();
  const Bytes size = owner->pages().size();
  const auto is_found = [&](std::byte* address) {
    return GpuPages::at(driver.functions(), address, size).has_value();
  };
  EXPECT_TRUE(is_found(begin));
  EXPECT_TRUE(is_found(begin + size.value - 1));
  EXPECT_FALSE(is_found(begin + size.value));
  EXPECT_FALSE(is_found(begin - 1));
  owner = Error{ErrorCode::Aborted, "gone"};
  EXPECT_FALSE(is_found(begin));
}

TEST(GpuPages, PagesArePassedAsACloseOnExecFile) {
  const FakeDriver driver;
  auto [mine, other] = socket_pair();
  const auto owner = fresh_pages(driver);
  ASSERT_TRUE(owner);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto file = recv_fd(other.get(), deadline_in(kPlenty));
    if (!file) ::_exit(1);
    auto pages = GpuPages::open(driver.functions(), *file, owner->pages().size());
    if (!pages) ::_exit(2);
    const auto mapped = MappedGpuPages::map(*std::move(pages), 0);
    if (!mapped) ::_exit(3);
    mapped->data()[5] = std::byte{9};
    ::_exit(0);
  }
  {
    const auto file = owner->pages().file();
    ASSERT_TRUE(file);
    EXPECT_NE(::fcntl(file->get(), F_GETFD) & FD_CLOEXEC, 0);
    ASSERT_TRUE(send_fd(mine.get(), file->get(), deadline_in(kPlenty)));
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(owner->data()[5], std::byte{9});
}

class GpuPagesFailure : public testing::TestWithParam<const char*> {};

TEST_P(GpuPagesFailure, IsNamedAndFreesEverything) {
  const FakeDriver driver(GetParam());
  const auto all = [&]() -> Status {
    RINGSIDE_TRY(const MappedGpuPages owner, fresh_pages(driver));
    const Bytes size = owner.pages().size();
    RINGSIDE_TRY(GpuPages here, GpuPages::at(driver.functions(), owner.data(), size));
    RINGSIDE_TRY(const UniqueFd file, here.file());
    RINGSIDE_TRY(GpuPages there, GpuPages::open(driver.functions(), file, size));
    RINGSIDE_TRY(const MappedGpuPages mapped, MappedGpuPages::map(std::move(there), 0));
    return {};
  }();
  ASSERT_FALSE(all);
  EXPECT_EQ(all.error().code, ErrorCode::System);
  EXPECT_EQ(all.error().message.find(GetParam()), 0U) << all.error().message;
  EXPECT_NE(all.error().message.find("as the test wants it (error 2"), std::string::npos)
      << all.error().message;
  expect_nothing_left(driver);
}

INSTANTIATE_TEST_SUITE_P(Functions, GpuPagesFailure,
                         testing::Values("cuMemGetAllocationGranularity", "cuMemCreate",
                                         "cuMemAddressReserve", "cuMemMap", "cuMemSetAccess",
                                         "cuMemRetainAllocationHandle",
                                         "cuMemExportToShareableHandle",
                                         "cuMemImportFromShareableHandle"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace ringside
