#pragma once

#include <condition_variable>
#include <future>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "base/clock.h"

namespace ringside {

/// Time for tests. It does not advance while a thread works, and jumps to the next time that a thread waits for
/// when all of them wait and none of the descriptors that they poll has anything to say.
///
/// It counts threads: those that start_thread() starts (the code under test does that for its own), those of
/// attend(), and without any of these the one thread that waits. Each thread that waits on the clock has to be
/// counted; one that waits for something else (a mutex, another thread) keeps time from passing.
class FakeClock final : public Clock {
 public:
  [[nodiscard]] Time now() const noexcept override;
  int poll(std::span<pollfd> polled, Time until) override;
  void thread_begins() noexcept override;
  void thread_ends() noexcept override;

  /// Advances the clock by `time`.
  void advance(Nanoseconds time);

  /// Returns when all other threads wait. The calling thread is counted.
  void wait_for_others() { sleep(Nanoseconds{1}); }

  /// Returns the time that has passed since the clock was made.
  [[nodiscard]] Nanoseconds elapsed() const { return now() - kBegin; }

 private:
  struct Sleeper;

  void move_on_if_all_wait();     ///< under mutex_
  void move_to(Time time);        ///< under mutex_
  [[nodiscard]] bool is_quiet();  ///< under mutex_

  static constexpr Time kBegin{std::chrono::hours(1)};
  mutable std::mutex mutex_;
  Time now_ = kBegin;
  int threads_ = 0;
  std::vector<Sleeper*> sleepers_;
};

/// Counts the calling thread as long as the object lives: for a test's own thread that runs concurrently.
class Attendance {
 public:
  explicit Attendance(Clock& clock) : clock_(clock) { clock_.thread_begins(); }
  ~Attendance() { clock_.thread_ends(); }
  Attendance(const Attendance&) = delete;
  Attendance& operator=(const Attendance&) = delete;

 private:
  Clock& clock_;
};

/// std::async for code that waits on the clock.
template <typename Body>
auto async_on(Clock& clock, Body body) {
  clock.thread_begins();
  return std::async(std::launch::async, [&clock, body = std::move(body)] {
    struct End {
      Clock& clock;
      ~End() { clock.thread_ends(); }
    } end{clock};
    return body();
  });
}

/// A std::barrier for threads that a clock counts: threads that wait here do not keep time from passing, and released
/// threads do, before the last of them has continued.
class ClockBarrier {
 public:
  ClockBarrier(Clock& clock, int threads) : clock_(clock), threads_(threads) {}
  void arrive_and_wait();

 private:
  Clock& clock_;
  const int threads_;
  std::mutex mutex_;
  std::condition_variable all_here_;
  int arrived_ = 0;
  int round_ = 0;
};

}  // namespace ringside
