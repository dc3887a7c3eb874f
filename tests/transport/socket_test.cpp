#include "engine/transport/socket/socket.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <future>
#include <numeric>
#include <optional>
#include <string>

#include "engine/transport/socket/frame.h"
#include "tests/support/fake_clock.h"
#include "tests/transport/socket_pair.h"

namespace ringside {
namespace {

using testing::HasSubstr;

constexpr Nanoseconds kMinute = std::chrono::minutes(1);  // on a clock that does not wait for it

struct Connection {
  UniqueFd connecting;
  UniqueFd accepted;
};

Connection connect_pair(const Endpoint& endpoint) {
  const auto listener = listen_on(endpoint);
  EXPECT_TRUE(listener) << listener.error().message;
  auto connecting = connect_to(*local_endpoint(listener->get()), deadline_in(kPlenty));
  EXPECT_TRUE(connecting) << connecting.error().message;
  pollfd entry{listener->get(), POLLIN, 0};
  EXPECT_EQ(::poll(&entry, 1, 20'000), 1);
  auto accepted = accept_one(listener->get());
  EXPECT_TRUE(accepted);
  return {*std::move(connecting), *std::move(accepted)};
}

std::vector<std::byte> pattern(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 7 % 251);
  return bytes;
}

TEST(Socket, MegabytesPassWholeThoughNoCallTakesThemAtOnce) {
  for (const Endpoint& endpoint :
       {Endpoint{loopback_address()},
        Endpoint{AbstractName{fmt::format("ringside-test-{}-mb", ::getpid())}}}) {
    const Connection pair = connect_pair(endpoint);
    const std::vector<std::byte> data = pattern(8 << 20);
    auto sending = std::async(std::launch::async, [&] {
      return send_all(pair.connecting.get(), data, deadline_in(kPlenty));
    });
    std::vector<std::byte> received(data.size());
    EXPECT_TRUE(recv_all(pair.accepted.get(), received, deadline_in(kPlenty)));
    EXPECT_TRUE(sending.get());
    EXPECT_TRUE(received == data);
  }
}

TEST(Socket, ABusyPortIsASystemErrorThatNamesTheAddressAndTheFix) {
  const auto first = listen_tcp(loopback_address());
  ASSERT_TRUE(first);
  const auto address = std::get<SocketAddress>(*local_endpoint(first->get()));
  const auto second = listen_tcp(address);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::System);
  EXPECT_EQ(second.error().message,
            fmt::format("cannot listen on {}: Address already in use", to_string(address)));
  EXPECT_THAT(second.error().help, HasSubstr("another process has the port"));
}

TEST(Socket, AnAddressOfAnotherHostCannotBeListenedOn) {
  const auto listener = listen_tcp(*parse_socket_address("198.51.100.1:0"));  // TEST-NET-2
  ASSERT_FALSE(listener);
  EXPECT_EQ(listener.error().code, ErrorCode::System);
  EXPECT_THAT(listener.error().help, HasSubstr("no interface here has this address"));
}

TEST(Socket, WithoutAListenerTheConnectionTimesOutWithTheReason) {
  auto listener = listen_tcp(loopback_address());
  const Endpoint address = *local_endpoint(listener->get());
  listener->reset();
  FakeClock clock;
  const auto refused = connect_to(address, deadline_in(kMinute, clock));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::Timeout);
  EXPECT_EQ(refused.error().message, to_string(address) + " does not answer: Connection refused");

  const auto nothing = connect_unix({"ringside-test-no-listener"}, deadline_in(kMinute, clock));
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().code, ErrorCode::Timeout);
}

TEST(Socket, FindsAListenerThatStartsLate) {
  auto listener = listen_tcp(loopback_address());
  const auto address = std::get<SocketAddress>(*local_endpoint(listener->get()));
  listener->reset();
  FakeClock clock;
  std::optional<Attendance> here(clock);
  auto connecting =
      async_on(clock, [&] { return connect_tcp(address, deadline_in(kMinute, clock)); });
  clock.sleep(kMinute / 2);
  const auto late = listen_tcp(address);
  ASSERT_TRUE(late);
  here.reset();
  EXPECT_TRUE(connecting.get());
}

TEST(Socket, EverySocketIsNonBlockingAndClosedOnExec) {
  const auto listener = listen_tcp(loopback_address());
  const Connection pair = connect_pair(loopback_address());
  for (const int fd : {listener->get(), pair.connecting.get(), pair.accepted.get()}) {
    EXPECT_NE(::fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
    EXPECT_NE(::fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
  }
}

// The watch's messages pass where the MTU differs.
TEST(Socket, ShortSegmentsAreShortBothWays) {
  const auto listener = listen_tcp(loopback_address());
  ASSERT_TRUE(listener);
  const auto connecting = connect_to(*local_endpoint(listener->get()), deadline_in(kPlenty),
                                     NoListener::IsEarly, Segments::Short);
  ASSERT_TRUE(connecting) << connecting.error().message;
  pollfd entry{listener->get(), POLLIN, 0};
  ASSERT_EQ(::poll(&entry, 1, 20'000), 1);
  const auto accepted = accept_one(listener->get());
  ASSERT_TRUE(accepted);
  for (const int socket : {connecting->get(), accepted->get()}) {
    int longest = 0;
    socklen_t size = sizeof longest;
    ASSERT_EQ(::getsockopt(socket, IPPROTO_TCP, TCP_MAXSEG, &longest, &size), 0);
    EXPECT_LE(longest, 536);
  }
}

TEST(Socket, ReceivingEndsAtTheDeadlineAndNamesThePeer) {
  const Connection pair = connect_pair(loopback_address());
  std::byte byte{};
  FakeClock clock;
  const Status silent = recv_all(pair.connecting.get(), {&byte, 1}, deadline_in(kMinute, clock));
  EXPECT_EQ(clock.elapsed(), kMinute);
  ASSERT_FALSE(silent);
  EXPECT_EQ(silent.error().code, ErrorCode::Timeout);
  EXPECT_THAT(silent.error().message, HasSubstr("127.0.0.1:"));
}

TEST(Socket, APeerThatClosesIsGoneAndRaisesNoSignal) {
  Connection pair = connect_pair(loopback_address());
  pair.accepted.reset();
  std::byte byte{};
  const Status received = recv_all(pair.connecting.get(), {&byte, 1}, deadline_in(kPlenty));
  ASSERT_FALSE(received);
  EXPECT_EQ(received.error().code, ErrorCode::PeerGone);
  // The first send may be taken by the kernel before the reset comes back; a later one fails, and
  // SIGPIPE would end this process.
  Status sent;
  const std::vector<std::byte> data = pattern(1 << 20);
  for (int i = 0; i < 100 && sent; ++i) {
    sent = send_all(pair.connecting.get(), data, deadline_in(kPlenty));
  }
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().code, ErrorCode::PeerGone);
}

TEST(Socket, ShutdownFromAnotherThreadEndsAWait) {
  const Connection pair = connect_pair(loopback_address());
  FakeClock clock;
  const Attendance here(clock);
  auto waiting = async_on(clock, [&clock, fd = pair.connecting.get()] {
    std::byte byte{};
    return recv_all(fd, {&byte, 1}, deadline_in(kMinute, clock));
  });
  clock.wait_for_others();
  ::shutdown(pair.connecting.get(), SHUT_RDWR);
  const Status ended = waiting.get();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, ErrorCode::PeerGone);
}

TEST(Frame, PayloadsOfAllSizesComeBackOneByOne) {
  const Connection pair = connect_pair(loopback_address());
  for (const std::size_t size : {0U, 1U, 255U, 256U, 100'000U}) {
    const std::vector<std::byte> payload = pattern(size);
    ASSERT_TRUE(send_frame(pair.connecting.get(), payload, deadline_in(kPlenty)));
    const auto received = recv_frame(pair.accepted.get(), 100'000, deadline_in(kPlenty));
    ASSERT_TRUE(received);
    EXPECT_TRUE(*received == payload) << size;
  }
}

TEST(Frame, ATooLongFrameIsRejectedBeforeItIsStored) {
  const Connection pair = connect_pair(loopback_address());
  const auto header = frame_header(0xffffffff);
  ASSERT_TRUE(send_all(pair.connecting.get(), header, deadline_in(kPlenty)));
  const auto received = recv_frame(pair.accepted.get(), 256, deadline_in(kPlenty));
  ASSERT_FALSE(received);
  EXPECT_EQ(received.error().code, ErrorCode::Corrupt);
  EXPECT_THAT(received.error().message,
              HasSubstr("a message of 4294967295 bytes where at most 256 are taken"));

  FrameReader reader(256);
  EXPECT_FALSE(reader.receive(header));
  EXPECT_FALSE(reader.is_whole());
  EXPECT_EQ(reader.wanted(), 0U);
}

}  // namespace
}  // namespace ringside
