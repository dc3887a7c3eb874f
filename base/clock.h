#pragma once

#include <poll.h>

#include <chrono>
#include <functional>
#include <span>
#include <stop_token>
#include <thread>

#include "ringside/units.h"

namespace ringside {

/// The clock by which threads wait: real_clock(), or a simulated clock that a test advances, so that tests of timeouts
/// take no time.
///
/// Threads  any thread may call any method
class Clock {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr Time kNever = Time::max();

  virtual ~Clock() = default;

  [[nodiscard]] virtual Time now() const noexcept = 0;

  /// Calls poll(2) until a time of this clock, which may be kNever.
  /// returns  as poll(2); 0: the time has come
  virtual int poll(std::span<pollfd> polled, Time until) = 0;

  void sleep_until(Time until) {
    while (now() < until) poll({}, until);
  }
  void sleep(Nanoseconds time) { sleep_until(now() + time); }

  /// Call both around the life of a thread that waits on this clock: a simulated clock does not
  /// advance while such a thread works. The thread that starts another one calls thread_begins()
  /// for it.
  virtual void thread_begins() noexcept {}
  virtual void thread_ends() noexcept {}
};

/// Returns the machine's monotonic clock. It lives as long as the process.
Clock& real_clock();

/// A thread that waits on the clock.
std::jthread start_thread(Clock& clock, std::function<void(const std::stop_token&)> body);

}  // namespace ringside
