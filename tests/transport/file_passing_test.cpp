#include "engine/transport/socket/file_passing.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <functional>

#include "engine/transport/socket/wakeup.h"
#include "tests/transport/socket_pair.h"

namespace ringside {
namespace {

using testing::HasSubstr;

/// Returns a file in memory that contains `text`.
UniqueFd memory_with(const char* text) {
  UniqueFd memory(::memfd_create("ringside-test", MFD_CLOEXEC));
  EXPECT_EQ(::pwrite(memory.get(), text, std::strlen(text), 0),
            static_cast<ssize_t>(std::strlen(text)));
  return memory;
}

std::string text_in(const UniqueFd& file) {
  std::array<char, 64> text{};
  EXPECT_GE(::pread(file.get(), text.data(), text.size() - 1, 0), 0);
  return text.data();
}

std::ptrdiff_t open_files() {
  namespace fs = std::filesystem;
  return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
}

/// Sends one byte, and the file so many times.
void send_message(int socket, char carrier, int file, std::size_t times) {
  iovec data{&carrier, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(8 * sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  if (times != 0) {
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(times * sizeof(int));
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(times * sizeof(int));
    for (std::size_t i = 0; i < times; ++i) {
      std::memcpy(CMSG_DATA(header) + i * sizeof file, &file, sizeof file);
    }
  }
  EXPECT_EQ(::sendmsg(socket, &message, MSG_NOSIGNAL), 1);
}

/// Starts a process that ends with the result of `body`.
pid_t start_process(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  return child;
}

int status_of(pid_t child) {
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

TEST(FilePassing, AnotherProcessReadsAndWritesTheFileThatWasSent) {
  auto [mine, other] = socket_pair();
  const UniqueFd memory = memory_with("hello");
  const pid_t child = start_process([&other = other] {
    const auto received = recv_fd(other.get(), deadline_in(kPlenty));
    if (!received || text_in(*received) != "hello") return 1;
    if ((::fcntl(received->get(), F_GETFD) & FD_CLOEXEC) == 0) return 2;
    return ::pwrite(received->get(), "hallo", 5, 0) == 5 ? 0 : 3;
  });
  ASSERT_TRUE(send_fd(mine.get(), memory.get(), deadline_in(kPlenty)));
  EXPECT_EQ(status_of(child), 0);
  EXPECT_EQ(text_in(memory), "hallo");
}

// Ten files are ten messages, in their order.
TEST(FilePassing, FilesComeInTheOrderInWhichTheyWereSent) {
  auto [mine, other] = socket_pair();
  for (const char* text : {"a", "b", "c"}) {
    ASSERT_TRUE(send_fd(mine.get(), memory_with(text).get(), deadline_in(kPlenty)));
  }
  for (const char* text : {"a", "b", "c"}) {
    const auto received = recv_fd(other.get(), deadline_in(kPlenty));
    ASSERT_TRUE(received) << received.error().message;
    EXPECT_EQ(text_in(*received), text);
  }
}

TEST(FilePassing, AProcessThatDiesBeforeItHasSentIsGone) {
  auto [mine, other] = socket_pair();
  const pid_t child = start_process([] { return ::raise(SIGKILL); });
  other.reset();
  const auto received = recv_fd(mine.get(), deadline_in(kPlenty));
  ASSERT_FALSE(received);
  EXPECT_EQ(received.error().code, ErrorCode::PeerGone);
  EXPECT_TRUE(WIFSIGNALED(status_of(child)));
  const UniqueFd memory = memory_with("hello");
  const Status sent = send_fd(mine.get(), memory.get(), deadline_in(kPlenty));
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().code, ErrorCode::PeerGone);
}

TEST(FilePassing, AMissingFileTimesOutAndAWaitCanBeCancelled) {
  auto [mine, other] = socket_pair();
  const auto late = recv_fd(mine.get(), deadline_in(std::chrono::milliseconds(1)));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::Timeout);
  const auto off = Wakeup::make();
  ASSERT_TRUE(off);
  off->signal();
  const auto called_off = recv_fd(mine.get(), Patience(deadline_in(kPlenty), *off));
  ASSERT_FALSE(called_off);
  EXPECT_EQ(called_off.error().code, ErrorCode::Aborted);
}

// A peer that never reads makes a sender wait, but no longer than its time limit.
TEST(FilePassing, AFullSocketIsATimeout) {
  auto [mine, other] = socket_pair();
  const UniqueFd memory = memory_with("hello");
  Status sent;
  for (int i = 0; i < 100'000 && sent; ++i) {
    sent = send_fd(mine.get(), memory.get(), deadline_in(std::chrono::milliseconds(1)));
  }
  ASSERT_FALSE(sent);
  // Linux limits the files of a process that are in flight to the number that it may have open.
  EXPECT_TRUE(sent.error().code == ErrorCode::Timeout || sent.error().code == ErrorCode::System)
      << sent.error().message;
}

struct Alien {
  const char* what;
  char carrier;
  std::size_t files;
  const char* says;
};

class FilePassingAlien : public testing::TestWithParam<Alien> {};

TEST_P(FilePassingAlien, IsCorruptAndLeavesNoFileOpen) {
  auto [mine, other] = socket_pair();
  const UniqueFd memory = memory_with("hello");
  const auto before = open_files();
  send_message(mine.get(), GetParam().carrier, memory.get(), GetParam().files);
  const auto received = recv_fd(other.get(), deadline_in(kPlenty));
  ASSERT_FALSE(received);
  EXPECT_EQ(received.error().code, ErrorCode::Corrupt);
  EXPECT_THAT(received.error().message, HasSubstr(GetParam().says));
  EXPECT_EQ(open_files(), before);
}

// 8 files: more than there is room for, so the kernel drops some.
INSTANTIATE_TEST_SUITE_P(Messages, FilePassingAlien,
                         testing::Values(Alien{"None", 'F', 0, "sent none"},
                                         Alien{"Two", 'F', 2, "sent several"},
                                         Alien{"Eight", 'F', 8, "sent several"},
                                         Alien{"OtherByte", 'x', 1, "something else"},
                                         Alien{"OtherByteAlone", 'x', 0, "something else"}),
                         [](const auto& test) { return std::string(test.param.what); });

TEST(FilePassing, AProcessWithoutADescriptorLeftGetsTheAdviceToRaiseItsLimit) {
  auto [mine, other] = socket_pair();
  const UniqueFd memory = memory_with("hello");
  ASSERT_TRUE(send_fd(mine.get(), memory.get(), deadline_in(kPlenty)));
  const pid_t child = start_process([&other = other] {
    rlimit none{0, 0};
    if (::setrlimit(RLIMIT_NOFILE, &none) != 0) return 1;
    const auto received = recv_fd(other.get(), deadline_in(kPlenty));
    if (received || received.error().code != ErrorCode::System) return 2;
    return received.error().help.find("ulimit -n") != std::string::npos ? 0 : 3;
  });
  EXPECT_EQ(status_of(child), 0);
}

TEST(FilePassing, LeavesNoDescriptorAfterAThousandFiles) {
  auto [mine, other] = socket_pair();
  const UniqueFd memory = memory_with("hello");
  const auto before = open_files();
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(send_fd(mine.get(), memory.get(), deadline_in(kPlenty)));
    ASSERT_TRUE(recv_fd(other.get(), deadline_in(kPlenty)));
  }
  EXPECT_EQ(open_files(), before);
}

}  // namespace
}  // namespace ringside
