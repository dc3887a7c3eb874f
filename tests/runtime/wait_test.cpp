#include "engine/runtime/host/wait.h"

#include <gtest/gtest.h>

#include "tests/support/fake_clock.h"

namespace ringside {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Advice = Waiter::Advice;

/// Returns a policy that sleeps at once, 10 ms at a time, asks about the peer every 50 ms, and gives up after a
/// minute.
WaitPolicy sleepy(FakeClock& clock) {
  return {.spins = 0,
          .yielding = Nanoseconds{0},
          .sleep = milliseconds(10),
          .check_every = milliseconds(50),
          .deadline = seconds(60),
          .clock = &clock};
}

TEST(Waiter, GivesUpOnceTheDeadlineHasPassedOnItsClock) {
  FakeClock clock;
  const WaitPolicy policy = sleepy(clock);
  Waiter waiter(policy);
  int pauses = 0;
  while (waiter.pause() != Advice::GiveUp) ++pauses;
  // 6000 pauses of 10 ms end at 60 s, which is not yet more than the deadline.
  EXPECT_EQ(pauses, 6001);
  EXPECT_EQ(clock.elapsed(), seconds(60) + milliseconds(10));
}

// The first pause starts the clock; the looks at 0, 10, .. 40 ms do not ask, those at 50, 100 and 150 ms do.
TEST(Waiter, AsksAboutThePeerNowAndThen) {
  FakeClock clock;
  const WaitPolicy policy = sleepy(clock);
  Waiter waiter(policy);
  int asked = 0;
  for (int i = 0; i <= 15; ++i) {
    if (waiter.pause() == Advice::AskAboutPeer) ++asked;
  }
  EXPECT_EQ(asked, 3);
}

// It spins 100 times, then yields as long as no time passes: the clock is left alone, and nothing sleeps.
TEST(Waiter, SpinsAndYieldsWithoutSleeping) {
  FakeClock clock;
  WaitPolicy policy = sleepy(clock);
  policy.spins = 100;
  policy.yielding = seconds(1);
  Waiter waiter(policy);
  for (int i = 0; i < 200; ++i) EXPECT_EQ(waiter.pause(), Advice::LookAgain);
  EXPECT_EQ(clock.elapsed(), Nanoseconds{0});
  clock.advance(seconds(1));
  for (int i = 0; i < 8; ++i) waiter.pause();  // the clock is read on one of these
  EXPECT_GE(clock.elapsed(), seconds(1) + milliseconds(10));
}

}  // namespace
}  // namespace ringside
