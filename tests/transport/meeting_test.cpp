// Tests how connections are made, over every row of the table: many of them, cancelled waits, and the other rank's
// death at each step.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "engine/transport/socket/socket.h"
#include "engine/transport/socket/wakeup.h"
#include "tests/transport/socket_pair.h"
#include "tests/transport/two_ranks.h"

namespace ringside {
namespace {

constexpr ConnectionShape kSmall{Protocol::Simple, Bytes{64}};

Result<bool> send_number(SendEnd& send, std::uint64_t number) {
  return send.send(std::as_bytes(std::span(&number, 1)));
}

/// Repeats until the message is sent.
void push(SendEnd& send) {
  for (const Deadline deadline = in_20_s(); !send.is_drained() && !has_passed(deadline);) {
    EXPECT_TRUE(send.progress());
  }
}

/// Waits for the next number.
///
/// returns  the number, or the error that ended the wait
Result<std::uint64_t> take_number(RecvEnd& recv) {
  std::uint64_t number = 0;
  for (const Deadline deadline = in_20_s(); !has_passed(deadline);) {
    RINGSIDE_TRY(const bool is_there, recv.take(std::as_writable_bytes(std::span(&number, 1))));
    if (is_there) return number;
    RINGSIDE_TRY(recv.check_peer());
    std::this_thread::yield();
  }
  return Error{ErrorCode::Timeout, "no number came"};
}

class EveryTransport : public testing::TestWithParam<const Transport*> {
 protected:
  const Transport& transport_ = *GetParam();
};

// Both ends of each connection belong to this process: 2 descriptors per connection, and a few more.
TEST_P(EveryTransport, AThousandConnectionsCarryEachItsOwn) {
  constexpr std::uint64_t kConnections = 1000;
  rlimit files{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &files), 0);
  if (files.rlim_max < 3 * kConnections) {
    GTEST_SKIP() << "needs 3000 open files, may have " << files.rlim_max;
  }
  files.rlim_cur = std::max<rlim_t>(files.rlim_cur, 3 * kConnections);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &files), 0);

  const TwoRanks ranks(transport_);
  std::vector<Ends> all(kConnections);
  std::vector<UniqueFd> dialled(kConnections);
  std::map<std::uint64_t, UniqueFd> accepted;
  for (std::uint64_t i = 0; i < kConnections && !transport_.is_inner(); ++i) {
    auto fd = ranks.first().dial(transport_, ranks.second().whereabouts(),
                                 std::as_bytes(std::span(&i, 1)), in_20_s());
    ASSERT_TRUE(fd) << i << ": " << fd.error().message;
    dialled[i] = *std::move(fd);
  }
  for (std::uint64_t i = 0; i < kConnections && !transport_.is_inner(); ++i) {
    auto next = ranks.second().accept(transport_, in_20_s());
    ASSERT_TRUE(next) << i << ": " << next.error().message;
    std::uint64_t which = 0;
    ASSERT_EQ(next->hello.size(), sizeof which);
    std::memcpy(&which, next->hello.data(), sizeof which);
    accepted[which] = std::move(next->fd);
  }
  for (std::uint64_t i = 0; i < kConnections; ++i) {
    auto recv = ranks.make_recv(std::move(accepted[i]), kSmall, in_20_s());
    ASSERT_TRUE(recv) << i << ": " << recv.error().message;
    auto send = ranks.make_send(std::move(dialled[i]), kSmall, in_20_s());
    ASSERT_TRUE(send) << i << ": " << send.error().message;
    all[i] = {*std::move(send), *std::move(recv)};
  }
  for (std::uint64_t i = 0; i < kConnections; ++i) EXPECT_TRUE(*send_number(*all[i].send, i * i));
  for (std::uint64_t i = 0; i < kConnections; ++i) {
    push(*all[i].send);
    const auto number = take_number(*all[i].recv);
    ASSERT_TRUE(number) << i << ": " << number.error().message;
    EXPECT_EQ(*number, i * i);
  }
}

INSTANTIATE_TEST_SUITE_P(Table, EveryTransport, testing::ValuesIn(every_transport()),
                         [](const auto& test) { return name_of(test); });

class JoiningTransport : public EveryTransport {};

/// A wait of up to 20 s that another thread cancels at once.
class CalledOff {
 public:
  CalledOff() : calling_([this] { off_.signal(); }) {}
  [[nodiscard]] Patience patience() const { return {in_20_s(), off_}; }

 private:
  Wakeup off_ = *Wakeup::make();
  std::jthread calling_;
};

TEST_P(JoiningTransport, AWaitForAPeerAtTheDoorCanBeCancelled) {
  const TwoRanks ranks(transport_);
  const CalledOff wait;
  const auto accepted = ranks.second().accept(transport_, wait.patience());
  ASSERT_FALSE(accepted);
  EXPECT_EQ(accepted.error().code, ErrorCode::Aborted);
}

// The port exists, and no process behind it answers.
TEST_P(JoiningTransport, AWaitToConnectCanBeCancelled) {
  const TwoRanks ranks(transport_);
  const UniqueFd silent =
      *listen_on(transport_.door == Door::Host
                     ? Endpoint{AbstractName{"ringside-test-silent-" + std::to_string(::getpid())}}
                     : Endpoint{loopback_address()});
  Whereabouts there = ranks.second().whereabouts();
  there.doors.at(static_cast<std::size_t>(transport_.door)) =
      to_string(*local_endpoint(silent.get()));
  const CalledOff wait;
  const auto dialled = ranks.first().dial(transport_, there, {}, wait.patience());
  ASSERT_FALSE(dialled);
  EXPECT_EQ(dialled.error().code, ErrorCode::Aborted);
}

// The other rank never makes its receiving end. An end that waits for nothing is returned at once.
TEST_P(JoiningTransport, MakingASendingEndCanBeCancelled) {
  const TwoRanks ranks(transport_);
  auto [dialled, accepted] = ranks.meet();
  const CalledOff wait;
  const auto send = ranks.make_send(std::move(dialled), kSmall, wait.patience());
  EXPECT_TRUE(send || send.error().code == ErrorCode::Aborted) << send.error().message;
}

/// Another rank, in a process of its own that runs `body`. It must be made before this process has threads.
class OtherRank {
 public:
  /// The actions of the other process.
  struct Self {
    const Transport& transport;
    OpenTransports& open;
    int talk;

    void say(std::byte what) const { static_cast<void>(send_all(talk, {&what, 1}, in_20_s())); }
    /// Returns the address of the first rank once it has sent it.
    [[nodiscard]] Whereabouts other() const { return recv_whereabouts(transport, talk); }
  };

  OtherRank(const Transport& transport, const std::function<void(Self&)>& body)
      : transport_(transport) {
    auto [mine, theirs] = socket_pair();
    pid_ = ::fork();
    EXPECT_GE(pid_, 0);
    if (pid_ == 0) {
      mine.reset();
      const auto open = open_rank(transport, 1, secret_);
      send_whereabouts(open->whereabouts(), theirs.get());
      Self self{transport, *open, theirs.get()};
      body(self);
      for (;;) ::pause();
    }
    talk_ = std::move(mine);
    where_ = recv_whereabouts(transport, talk_.get());
    first_ = open_rank(transport, 0, secret_);
  }
  OtherRank(const OtherRank&) = delete;
  OtherRank& operator=(const OtherRank&) = delete;
  ~OtherRank() { kill(); }

  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

  /// Returns once it has sent something.
  void receive() const {
    std::byte word{};
    EXPECT_TRUE(recv_all(talk_.get(), {&word, 1}, in_20_s()));
  }
  void send_own_whereabouts() const { send_whereabouts(first_->whereabouts(), talk_.get()); }

  Result<UniqueFd> dial() const { return first_->dial(transport_, where_, {}, in_20_s()); }
  UniqueFd accept() const {
    auto accepted = first_->accept(transport_, in_20_s());
    EXPECT_TRUE(accepted) << accepted.error().message;
    return std::move(accepted->fd);
  }
  Joint joint(UniqueFd peer) const {
    return first_->joint(transport_, where_, std::move(peer), kSmall, 0, in_20_s());
  }

 private:
  static void send_whereabouts(const Whereabouts& where, int talk) {
    for (const std::string& text :
         {where.doors.at(1), where.doors.at(2), where.open.front().address}) {
      static_cast<void>(send_frame(talk, std::as_bytes(std::span(text)), in_20_s()));
    }
  }
  static Whereabouts recv_whereabouts(const Transport& transport, int talk) {
    std::vector<std::string> texts;
    for (int i = 0; i < 3; ++i) {
      const auto frame = recv_frame(talk, kLongestAddress, in_20_s());
      EXPECT_TRUE(frame) << frame.error().message;
      texts.emplace_back();
      for (const std::byte byte : *frame) texts.back() += static_cast<char>(byte);
    }
    return {.host = "this host",
            .doors = {"", texts[0], texts[1]},
            .open = {{std::string(transport.name), texts[2]}}};
  }

  const Transport& transport_;
  const Secret secret_ = random_secret();
  pid_t pid_ = -1;
  UniqueFd talk_;
  Whereabouts where_;
  std::unique_ptr<OpenTransports> first_;
};

/// Returns the same for an end that may not even have been made.
template <typename End>
ErrorCode end_of(const Result<std::unique_ptr<End>>& made) {
  return made ? end_of(**made) : made.error().code;
}

TEST_P(JoiningTransport, ARankThatDiedBeforeItWasDialledIsGone) {
  OtherRank other(transport_, [](OtherRank::Self&) {});
  other.kill();
  const auto dialled = other.dial();
  ASSERT_FALSE(dialled);
  EXPECT_EQ(dialled.error().code, ErrorCode::PeerGone) << dialled.error().message;
}

TEST_P(JoiningTransport, ARankThatDiesBeforeItMakesItsReceivingEndIsGone) {
  OtherRank other(transport_, [](OtherRank::Self&) {});
  auto dialled = other.dial();
  ASSERT_TRUE(dialled) << dialled.error().message;
  other.kill();
  EXPECT_EQ(end_of(transport_.make_send(other.joint(*std::move(dialled)))), ErrorCode::PeerGone);
}

TEST_P(JoiningTransport, ARankThatDiesBeforeItMakesItsSendingEndIsGone) {
  OtherRank other(transport_, [](OtherRank::Self& self) {
    const auto dialled = self.open.dial(self.transport, self.other(), {}, in_20_s());
    self.say(std::byte{1});
    ::pause();  // ends with the socket
  });
  other.send_own_whereabouts();
  UniqueFd accepted = other.accept();
  other.receive();
  other.kill();
  EXPECT_EQ(end_of(transport_.make_recv(other.joint(std::move(accepted)))), ErrorCode::PeerGone);
}

/// Makes the other rank a sender of numbers from 0 on, as many as are received.
void send_numbers(OtherRank::Self& self) {
  const Whereabouts first = self.other();
  auto dialled = self.open.dial(self.transport, first, {}, in_20_s());
  if (!dialled) return;
  const auto send = self.transport.make_send(
      self.open.joint(self.transport, first, *std::move(dialled), kSmall, 0, in_20_s()));
  if (!send) return;
  for (std::uint64_t next = 0;;) {
    const auto sent = send_number(**send, next);
    if (!sent) return;
    if (*sent) ++next;
  }
}

// The sender dies in the middle of a message: what arrives is complete and in order, and then the connection ends.
TEST_P(JoiningTransport, ADeadSendersSlotsAreReceivedBeforeItsEnd) {
  OtherRank other(transport_, send_numbers);
  other.send_own_whereabouts();
  auto recv = transport_.make_recv(other.joint(other.accept()));
  ASSERT_TRUE(recv) << recv.error().message;
  for (std::uint64_t i = 0; i < 20; ++i) ASSERT_EQ(*take_number(**recv), i);
  other.kill();
  std::uint64_t next = 20;
  auto number = take_number(**recv);
  while (number) {
    ASSERT_EQ(*number, next++);
    number = take_number(**recv);
  }
  EXPECT_EQ(number.error().code, ErrorCode::PeerGone) << number.error().message;
}

/// Makes the other rank a receiver that takes 5 numbers and then no more.
void take_five(OtherRank::Self& self) {
  auto accepted = self.open.accept(self.transport, in_20_s());
  if (!accepted) return;
  const Whereabouts first = self.other();
  const auto recv = self.transport.make_recv(
      self.open.joint(self.transport, first, std::move(accepted->fd), kSmall, 0, in_20_s()));
  if (!recv) return;
  for (int i = 0; i < 5; ++i) static_cast<void>(take_number(**recv));
  self.say(std::byte{1});
  ::pause();  // ends with the end
}

TEST_P(JoiningTransport, AReceiverThatDiesWithSlotsInFlightIsGone) {
  OtherRank other(transport_, take_five);
  other.send_own_whereabouts();
  auto dialled = other.dial();
  ASSERT_TRUE(dialled) << dialled.error().message;
  const auto send = transport_.make_send(other.joint(*std::move(dialled)));
  ASSERT_TRUE(send) << send.error().message;
  for (std::uint64_t i = 0; i < 8; ++i) ASSERT_TRUE(*send_number(**send, i));
  push(**send);
  EXPECT_TRUE((*send)->check_peer());
  other.receive();
  other.kill();
  EXPECT_EQ(end_of(**send), ErrorCode::PeerGone);
}

INSTANTIATE_TEST_SUITE_P(Table, JoiningTransport, testing::ValuesIn(joining_transports()),
                         [](const auto& test) { return name_of(test); });

}  // namespace
}  // namespace ringside
