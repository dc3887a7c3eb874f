#include "base/clock.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <vector>

#include "base/deadline.h"
#include "base/fd.h"
#include "tests/support/fake_clock.h"

namespace ringside {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

void signal(const UniqueFd& fd) {
  const std::uint64_t one = 1;
  EXPECT_EQ(::write(fd.get(), &one, sizeof one), 8);
}

TEST(RealClock, APollEndsAtItsTimeOrWithADescriptorAndNeverWithoutBoth) {
  const UniqueFd fd(::eventfd(0, 0));
  pollfd entry{fd.get(), POLLIN, 0};
  Clock& clock = real_clock();
  const Clock::Time until = clock.now() + milliseconds(1);
  EXPECT_EQ(clock.poll(std::span(&entry, 1), until), 0);
  EXPECT_GE(clock.now(), until);
  EXPECT_EQ(clock.poll(std::span(&entry, 1), Clock::Time{}), 0);  // a time gone by
  signal(fd);
  EXPECT_EQ(clock.poll(std::span(&entry, 1), Clock::kNever), 1);
  EXPECT_EQ(entry.revents, POLLIN);
}

TEST(Deadline, UsesTheClockThatItWasMadeWith) {
  FakeClock clock;
  const Deadline deadline = deadline_in(hours(1), clock);
  EXPECT_FALSE(has_passed(deadline));
  clock.advance(hours(1) - Nanoseconds{1});
  EXPECT_FALSE(has_passed(deadline));
  clock.advance(Nanoseconds{1});
  EXPECT_TRUE(has_passed(deadline));
  EXPECT_FALSE(has_passed(Deadline::never(clock)));
  EXPECT_TRUE(has_passed(Deadline{}));
}

TEST(Deadline, WithinIsTheEarlierOfTwo) {
  FakeClock clock;
  const Deadline deadline = deadline_in(seconds(10), clock);
  EXPECT_EQ(deadline.within(seconds(3)), deadline - seconds(7));
  EXPECT_EQ(deadline.within(seconds(30)), deadline);
}

TEST(FakeClock, AWaitOfHoursTakesNone) {
  FakeClock clock;
  clock.sleep(hours(2));
  EXPECT_EQ(clock.elapsed(), hours(2));
}

// 3 s and 5 s of one thread, 4 s of the other: each wakes at its own time, in order.
TEST(FakeClock, SleepersWakeInTheOrderOfTheirTimes) {
  FakeClock clock;
  std::vector<Nanoseconds> woken;  // by one at a time: the clock does not advance while one works
  {
    const Attendance here(clock);
    auto other = async_on(clock, [&] {
      clock.sleep(seconds(4));
      woken.push_back(clock.elapsed());
      return 0;
    });
    clock.sleep(seconds(3));
    woken.push_back(clock.elapsed());
    clock.sleep(seconds(2));
    woken.push_back(clock.elapsed());
    other.get();
  }
  EXPECT_EQ(woken, (std::vector<Nanoseconds>{seconds(3), seconds(4), seconds(5)}));
}

TEST(FakeClock, AReadyDescriptorEndsAPollBeforeItsDeadline) {
  FakeClock clock;
  const UniqueFd fd(::eventfd(0, 0));
  const Attendance here(clock);
  auto waiting = async_on(clock, [&] {
    pollfd entry{fd.get(), POLLIN, 0};
    return clock.poll(std::span(&entry, 1), clock.now() + hours(1));
  });
  clock.wait_for_others();
  signal(fd);
  EXPECT_EQ(waiting.get(), 1);
  EXPECT_LT(clock.elapsed(), hours(1));
}

TEST(FakeClock, TimeAdvancesWhenAThreadEnds) {
  FakeClock clock;
  auto sleeping = async_on(clock, [&] {
    clock.sleep(hours(1));
    return clock.elapsed();
  });
  {
    const std::jthread working = start_thread(clock, [](const std::stop_token&) {});
  }
  EXPECT_EQ(sleeping.get(), hours(1));
}

}  // namespace
}  // namespace ringside
