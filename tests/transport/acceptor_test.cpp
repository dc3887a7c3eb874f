#include "engine/transport/socket/acceptor.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <future>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "engine/transport/socket/socket.h"
#include "tests/support/fake_clock.h"
#include "tests/transport/socket_pair.h"

namespace ringside {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

std::string text_of(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes) text += static_cast<char>(byte);
  return text;
}

TEST(Acceptor, ReturnsAConnectionWithItsHelloAndReadsNoFurther) {
  for (const Endpoint& endpoint :
       {Endpoint{loopback_address()},
        Endpoint{AbstractName{fmt::format("ringside-test-{}-acceptor", ::getpid())}}}) {
    const Secret secret = random_secret();
    const auto acceptor = Acceptor::listen(endpoint, secret);
    ASSERT_TRUE(acceptor);
    const auto connected = connect_authenticated((*acceptor)->address(), secret,
                                                 bytes_of("channel 3"), deadline_in(kPlenty));
    ASSERT_TRUE(connected) << connected.error().message;
    ASSERT_TRUE(send_all(connected->get(), bytes_of("data"), deadline_in(kPlenty)));
    const auto accepted = (*acceptor)->accept(deadline_in(kPlenty));
    ASSERT_TRUE(accepted);
    EXPECT_EQ(text_of(accepted->hello), "channel 3");
    std::vector<std::byte> data(4);
    ASSERT_TRUE(recv_all(accepted->fd.get(), data, deadline_in(kPlenty)));
    EXPECT_EQ(text_of(data), "data");
  }
}

TEST(Acceptor, APeerWithoutTheSecretIsRefusedAndLoggedWhileTheOthersAreLetIn) {
  testing::internal::CaptureStderr();
  std::string stranger;
  {
    const Secret secret = random_secret();
    FakeClock clock;
    const Attendance here(clock);
    const Deadline deadline = deadline_in(kPlenty, clock);
    const auto acceptor = Acceptor::listen(loopback_address(), secret, {}, clock);
    ASSERT_TRUE(acceptor);
    const auto refused = connect_authenticated((*acceptor)->address(), random_secret(),
                                               bytes_of("let me in"), deadline);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::PermissionDenied);
    ASSERT_TRUE(connect_authenticated((*acceptor)->address(), secret, bytes_of("mine"), deadline));
    const auto accepted = (*acceptor)->accept(deadline);
    ASSERT_TRUE(accepted);
    EXPECT_EQ(text_of(accepted->hello), "mine");
    EXPECT_FALSE((*acceptor)->accept(deadline));
    EXPECT_EQ(clock.elapsed(), kPlenty);
  }
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::ContainsRegex(
                  "warning: 127.0.0.1:[0-9]+ refused 127.0.0.1:[0-9]+: does not know the secret"));
}

// As a rank that asks another one for its status, and gets no answer while that is stopped.
TEST(Acceptor, APeerThatGivesUpIsNotLogged) {
  testing::internal::CaptureStderr();
  {
    const Secret secret = random_secret();
    const auto acceptor = Acceptor::listen(loopback_address(), secret);
    ASSERT_TRUE(acceptor);
    ASSERT_TRUE(connect_to((*acceptor)->address(), deadline_in(kPlenty)));
    const Deadline deadline = deadline_in(kPlenty);
    ASSERT_TRUE(connect_authenticated((*acceptor)->address(), secret, bytes_of("mine"), deadline));
    ASSERT_TRUE((*acceptor)->accept(deadline));
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Acceptor, SilentAndBabblingStrangersDelayNoPeer) {
  testing::internal::CaptureStderr();
  {
    const Secret secret = random_secret();
    FakeClock clock;
    const Attendance here(clock);
    const Deadline deadline = deadline_in(kPlenty, clock);
    const auto acceptor =
        Acceptor::listen(loopback_address(), secret, {.handshake = seconds(5)}, clock);
    ASSERT_TRUE(acceptor);
    std::vector<UniqueFd> silent;
    for (int i = 0; i < 20; ++i) {
      silent.push_back(*connect_to((*acceptor)->address(), deadline));
    }
    ASSERT_TRUE(send_all(silent[0].get(), bytes_of("RSD"), deadline));
    ASSERT_TRUE(send_all(silent[1].get(), bytes_of(std::string(1000, 'x')), deadline));
    ASSERT_TRUE(connect_authenticated((*acceptor)->address(), secret, {}, deadline));
    EXPECT_TRUE((*acceptor)->accept(deadline));
    EXPECT_EQ(clock.elapsed(), Nanoseconds{0});
    std::byte byte{};
    for (const UniqueFd& stranger : silent) {  // each connection is closed in the end
      const Status ended = recv_all(stranger.get(), {&byte, 1}, deadline);
      ASSERT_FALSE(ended);
      EXPECT_EQ(ended.error().code, ErrorCode::PeerGone);
    }
    EXPECT_EQ(clock.elapsed(), seconds(5));
  }
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, HasSubstr("did not finish the handshake in time"));
  EXPECT_THAT(log, HasSubstr("does not speak ringside's protocol"));
}

TEST(Acceptor, OneConnectionTooManyDropsTheOldestUnknownClient) {
  testing::internal::CaptureStderr();
  {
    const Secret secret = random_secret();
    const auto acceptor = Acceptor::listen(loopback_address(), secret, {.pending = 2});
    std::vector<UniqueFd> silent;
    for (int i = 0; i < 5; ++i) {
      silent.push_back(*connect_to((*acceptor)->address(), deadline_in(kPlenty)));
    }
    std::byte byte{};
    for (std::size_t i = 0; i < 3; ++i) {  // 5 came, and 2 may wait
      EXPECT_FALSE(recv_all(silent[i].get(), {&byte, 1}, deadline_in(kPlenty)));
    }
    EXPECT_TRUE(connect_authenticated((*acceptor)->address(), secret, {}, deadline_in(kPlenty)));
  }
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("to make room"));
}

TEST(Acceptor, ReturnsEachOfManyConcurrentConnectionsOnce) {
  const Secret secret = random_secret();
  const auto acceptor = Acceptor::listen(loopback_address(), secret);
  ASSERT_TRUE(acceptor);
  std::vector<std::jthread> ranks;
  for (int rank = 0; rank < 32; ++rank) {
    ranks.emplace_back([&, rank] {
      EXPECT_TRUE(connect_authenticated((*acceptor)->address(), secret,
                                        bytes_of(std::to_string(rank)), deadline_in(kPlenty)));
    });
  }
  std::set<std::string> seen;
  for (int i = 0; i < 32; ++i) {
    const auto accepted = (*acceptor)->accept(deadline_in(kPlenty));
    ASSERT_TRUE(accepted);
    seen.insert(text_of(accepted->hello));
  }
  EXPECT_EQ(seen.size(), 32U);
}

TEST(Acceptor, ItsReadyFdIsReadableWhileSomebodyWaitsToBeTaken) {
  const Secret secret = random_secret();
  const auto acceptor = Acceptor::listen(loopback_address(), secret);
  pollfd entry{(*acceptor)->ready_fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&entry, 1, 0), 0);
  const auto connected =
      connect_authenticated((*acceptor)->address(), secret, {}, deadline_in(kPlenty));
  EXPECT_EQ(::poll(&entry, 1, 20'000), 1);
  ASSERT_TRUE((*acceptor)->accept(deadline_in(kPlenty)));
  EXPECT_EQ(::poll(&entry, 1, 0), 0);
}

TEST(Acceptor, CloseEndsAWaitingAccept) {
  const auto acceptor = Acceptor::listen(loopback_address(), random_secret());
  auto waiting =
      std::async(std::launch::async, [&] { return (*acceptor)->accept(deadline_in(kPlenty)); });
  (*acceptor)->close();
  const auto ended = waiting.get();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, ErrorCode::Aborted);
}

TEST(Acceptor, AHelloBeyondTheLimitIsRefused) {
  testing::internal::CaptureStderr();
  {
    const Secret secret = random_secret();
    const auto acceptor = Acceptor::listen(loopback_address(), secret);
    const auto fd = connect_to((*acceptor)->address(), deadline_in(kPlenty));
    ASSERT_TRUE(shake_hands(fd->get(), HandshakeRole::Connecting, secret, deadline_in(kPlenty)));
    ASSERT_TRUE(
        send_frame(fd->get(), std::vector<std::byte>(kHelloLimit + 1), deadline_in(kPlenty)));
    std::byte byte{};
    EXPECT_FALSE(recv_all(fd->get(), {&byte, 1}, deadline_in(kPlenty)));
  }
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("a message of 257 bytes where at most 256 are taken"));
}

}  // namespace
}  // namespace ringside
