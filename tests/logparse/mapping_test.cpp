#include "diag/logparse/mapping.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <utility>

namespace ringside::logs {
namespace {

constexpr std::size_t kPage = 4096;

/// A file of zeros in memory.
class File {
 public:
  explicit File(std::size_t pages) : fd_(::memfd_create("mapping_test", 0)) { resize(pages); }
  ~File() { ::close(fd_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  void resize(std::size_t pages) const {
    EXPECT_EQ(::ftruncate(fd_, static_cast<off_t>(pages * kPage)), 0);
  }
  [[nodiscard]] int fd() const { return fd_; }

 private:
  int fd_;
};

struct sigaction handler() {
  struct sigaction now {};
  ::sigaction(SIGBUS, nullptr, &now);
  return now;
}

/// Returns whether the current handler is `other`: the system's, or a sanitizer's.
bool is_as(const struct sigaction& other) {
  const struct sigaction now = handler();
  return now.sa_handler == other.sa_handler && now.sa_sigaction == other.sa_sigaction;
}

TEST(Mapping, ReadsZerosWhereTheFileHasGone) {
  const File file(2);
  const Mapping mapping(file.fd(), 0, 2 * kPage);
  ASSERT_NE(mapping.data(), nullptr);
  file.resize(1);
  EXPECT_EQ(mapping.data()[kPage], 0);
  EXPECT_TRUE(mapping.was_cut());
}

TEST(Mapping, TakesTheSignalOnlyWhileThereIsOne) {
  const struct sigaction original = handler();
  const File file(2);
  {
    Mapping first(file.fd(), 0, kPage);
    EXPECT_FALSE(is_as(original));
    Mapping second(file.fd(), kPage, kPage);
    first = std::move(second);  // as a window moves on
    EXPECT_FALSE(is_as(original));
  }
  EXPECT_TRUE(is_as(original));
}

void others(int /*signal*/) {}

TEST(Mapping, LeavesAHandlerThatCameLaterInItsPlace) {
  const struct sigaction original = handler();
  const File file(1);
  struct sigaction before {};
  {
    const Mapping mapping(file.fd(), 0, kPage);
    struct sigaction action {};
    action.sa_handler = others;
    ::sigaction(SIGBUS, &action, &before);
  }
  EXPECT_EQ(handler().sa_handler, others);
  ::sigaction(SIGBUS, &before, nullptr);  // as a well-behaved handler does at its end
  { const Mapping again(file.fd(), 0, kPage); }
  EXPECT_TRUE(is_as(original));
}

}  // namespace
}  // namespace ringside::logs
