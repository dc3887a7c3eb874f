#include "engine/transport/socket/handshake.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <future>
#include <string>
#include <vector>

#include "engine/transport/socket/socket.h"
#include "tests/support/fake_clock.h"
#include "tests/transport/socket_pair.h"

namespace ringside {
namespace {

using testing::HasSubstr;

std::vector<std::byte> said(const Handshake& side) {
  return {side.to_send().begin(), side.to_send().end()};
}

/// Moves all that `from` has to send to `to`.
Status pass(Handshake& from, Handshake& to) {
  const std::vector<std::byte> bytes = said(from);
  from.sent(bytes.size());
  return to.receive(bytes);
}

TEST(Handshake, BothSidesAreDoneAfterFourMessages) {
  const Secret secret = random_secret();
  Handshake connecting(HandshakeRole::Connecting, secret);
  Handshake accepting(HandshakeRole::Accepting, secret);
  EXPECT_EQ(connecting.to_send().size(), 40U);
  EXPECT_TRUE(accepting.to_send().empty());  // the accepting side does not send first
  ASSERT_TRUE(pass(connecting, accepting));  // opening
  ASSERT_TRUE(pass(accepting, connecting));  // opening
  ASSERT_TRUE(pass(connecting, accepting));  // proof
  EXPECT_FALSE(connecting.is_done());
  EXPECT_FALSE(accepting.is_done());         // its own proof is still to be sent
  ASSERT_TRUE(pass(accepting, connecting));  // proof
  EXPECT_TRUE(connecting.is_done());
  EXPECT_TRUE(accepting.is_done());
}

TEST(Handshake, TakesItsMessagesInSingleBytes) {
  const Secret secret = random_secret();
  Handshake connecting(HandshakeRole::Connecting, secret);
  Handshake accepting(HandshakeRole::Accepting, secret);
  for (Handshake* from : {&connecting, &accepting, &connecting, &accepting}) {
    Handshake& to = from == &connecting ? accepting : connecting;
    while (!from->to_send().empty()) {
      ASSERT_TRUE(to.receive(from->to_send().first(1)));
      from->sent(1);
    }
  }
  EXPECT_TRUE(connecting.is_done());
  EXPECT_TRUE(accepting.is_done());
}

TEST(Handshake, AWrongSecretIsRefusedAndGetsNoProofInReturn) {
  Handshake connecting(HandshakeRole::Connecting, random_secret());
  Handshake accepting(HandshakeRole::Accepting, random_secret());
  ASSERT_TRUE(pass(connecting, accepting));
  ASSERT_TRUE(pass(accepting, connecting));
  const Status refused = pass(connecting, accepting);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::PermissionDenied);
  EXPECT_TRUE(accepting.to_send().empty());
  EXPECT_EQ(accepting.wanted(), 0U);
  EXPECT_FALSE(accepting.is_done());
}

TEST(Handshake, AReplayedConversationIsRefused) {
  const Secret secret = random_secret();
  Handshake connecting(HandshakeRole::Connecting, secret);
  Handshake accepting(HandshakeRole::Accepting, secret);
  const std::vector<std::byte> opening = said(connecting);
  ASSERT_TRUE(pass(connecting, accepting));
  ASSERT_TRUE(pass(accepting, connecting));
  const std::vector<std::byte> proof = said(connecting);
  ASSERT_TRUE(pass(connecting, accepting));  // the recorded one was valid

  Handshake later(HandshakeRole::Accepting, secret);
  ASSERT_TRUE(later.receive(opening));
  const Status refused = later.receive(proof);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::PermissionDenied);
}

TEST(Handshake, AnswersSentBackToWhereTheyCameFromAreRefused) {
  const Secret secret = random_secret();
  Handshake accepting(HandshakeRole::Accepting, secret);
  Handshake connecting(HandshakeRole::Connecting, secret);
  ASSERT_FALSE(connecting.receive(said(connecting)));  // its own opening: the wrong role

  Handshake victim(HandshakeRole::Connecting, secret);
  ASSERT_TRUE(pass(victim, accepting));
  ASSERT_TRUE(pass(accepting, victim));
  const Status refused = victim.receive(said(victim));  // its own proof
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::PermissionDenied);
}

TEST(Handshake, GarbageIsRefusedAfterTheFirstMessageAndNotAnswered) {
  Handshake accepting(HandshakeRole::Accepting, random_secret());
  const std::string request = "GET / HTTP/1.1\r\nHost: 127.0.0.1:29500\r\n\r\n";
  const Status refused =
      accepting.receive(std::as_bytes(std::span(request)).first(accepting.wanted()));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::Corrupt);
  EXPECT_TRUE(accepting.to_send().empty());
}

TEST(Handshake, AnotherVersionIsRefusedOnBothSides) {
  const Secret secret = random_secret();
  Handshake connecting(HandshakeRole::Connecting, secret);
  Handshake accepting(HandshakeRole::Accepting, secret);
  std::vector<std::byte> opening = said(connecting);
  opening[4] = std::byte{9};
  const Status refused = accepting.receive(opening);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::Unsupported);
  EXPECT_THAT(refused.error().message, HasSubstr("version 9"));
  EXPECT_EQ(accepting.to_send().size(), 40U);  // so that the other side can name both versions, too
}

TEST(ShakeHands, WorksOverASocket) {
  auto [a, b] = socket_pair();
  const Secret secret = random_secret();
  auto accepting = std::async(std::launch::async, [&, fd = b.get()] {
    return shake_hands(fd, HandshakeRole::Accepting, secret, deadline_in(kPlenty));
  });
  EXPECT_TRUE(shake_hands(a.get(), HandshakeRole::Connecting, secret, deadline_in(kPlenty)));
  EXPECT_TRUE(accepting.get());
}

TEST(ShakeHands, AWrongSecretIsRefusedOnBothSidesAndLogged) {
  testing::internal::CaptureStderr();
  auto [a, b] = socket_pair();
  auto accepting = std::async(std::launch::async, [&b = b] {
    const UniqueFd mine = std::move(b);  // to refuse is to close
    return shake_hands(mine.get(), HandshakeRole::Accepting, random_secret(), deadline_in(kPlenty));
  });
  const Status here =
      shake_hands(a.get(), HandshakeRole::Connecting, random_secret(), deadline_in(kPlenty));
  const Status there = accepting.get();
  const std::string log = testing::internal::GetCapturedStderr();
  ASSERT_FALSE(here);
  ASSERT_FALSE(there);
  EXPECT_EQ(here.error().code, ErrorCode::PermissionDenied);
  EXPECT_EQ(there.error().code, ErrorCode::PermissionDenied);
  EXPECT_THAT(log, HasSubstr("warning: refused process "));
  EXPECT_THAT(log, HasSubstr("does not know the secret of this job"));
}

TEST(ShakeHands, ASilentPeerCostsNoMoreThanTheDeadline) {
  auto [a, b] = socket_pair();
  FakeClock clock;
  const Status refused = shake_hands(a.get(), HandshakeRole::Accepting, random_secret(),
                                     deadline_in(std::chrono::hours(1), clock));
  EXPECT_EQ(clock.elapsed(), std::chrono::hours(1));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::Timeout);
}

}  // namespace
}  // namespace ringside
