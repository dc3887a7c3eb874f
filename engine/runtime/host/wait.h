#pragma once

#include "base/clock.h"
#include "ringside/units.h"

namespace ringside {

/// How a rank waits for a slot: it spins, then gives the core away between looks, then sleeps.
///
/// Spinning wins when the peer runs on another core: a slot comes within microseconds. With more
/// ranks than cores the peer may need this very core, so `spins` is then small.
struct WaitPolicy {
  int spins = 1000;                      ///< looks before the first yield; a look is 10 to 50 ns
  Nanoseconds yielding{20'000'000};      ///< then yields for so long
  Nanoseconds sleep{100'000};            ///< then sleeps so long between looks
  Nanoseconds check_every{50'000'000};   ///< how often the operating system is asked about the peer
  Nanoseconds deadline{60'000'000'000};  ///< nothing moved for so long: Timeout
  Clock* clock = &real_clock();          ///< read on every 8th yield, and then before each sleep
};

/// The policy for `threads` that wait at the same time on `cores` cores of this host.
WaitPolicy wait_policy(int threads, int cores);

/// One wait. The caller looks, and calls pause() after each look that found nothing:
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

  /// Since the first yield, by the last look at the clock.
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
