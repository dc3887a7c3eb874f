#pragma once

#include "base/clock.h"
#include "ringside/units.h"

namespace ringside {

/// How a rank waits for a slot: it spins, then yields the core between polls, then sleeps between polls.
///
/// Spinning is fastest when the peer runs on another core: a slot arrives within microseconds. With more ranks than
/// cores the peer may need this core, so `spins` is then small.
struct WaitPolicy {
  int spins = 1000;                      ///< polls before the first yield; a poll takes 10 to 50 ns
  Nanoseconds yielding{20'000'000};      ///< how long it yields after that
  Nanoseconds sleep{100'000};            ///< then sleeps this long between polls
  Nanoseconds check_every{50'000'000};   ///< interval between calls of check_peer()
  Nanoseconds deadline{60'000'000'000};  ///< no progress for this long: Timeout
  Clock* clock = &real_clock();          ///< read on every 8th yield and before each sleep
};

/// Returns the policy for `threads` threads that wait at the same time on `cores` cores of this host.
WaitPolicy wait_policy(int threads, int cores);

/// Paces one wait. The caller polls, and calls pause() after each poll that found nothing:
///
///   Waiter waiter(policy);
///   while (!ready()) { switch (waiter.pause()) { ... } }
class Waiter {
 public:
  enum class Advice {
    LookAgain,
    AskAboutPeer,  ///< time to call check_peer()
    GiveUp,        ///< the deadline has passed
  };

  explicit Waiter(const WaitPolicy& policy) : policy_(&policy) {}
  Advice pause();

  /// Returns the time from the first yield to the last reading of the clock.
  [[nodiscard]] Nanoseconds waited() const { return waited_; }

 private:
  Advice pause_slowly();

  const WaitPolicy* policy_;
  int spun_ = 0;
  unsigned yields_ = 0;
  bool is_yielding_ = false;
  Clock::Time began_;
  Clock::Time asked_;
  Nanoseconds waited_{0};
};

}  // namespace ringside
