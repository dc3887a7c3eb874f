#pragma once

#include <semaphore.h>

#include <cerrno>
#include <ctime>

#include "ringside/units.h"

namespace ringside {

/// Counting semaphore. post() is async-signal-safe.
class Semaphore {
 public:
  Semaphore() { ::sem_init(&semaphore_, 0, 0); }
  ~Semaphore() { ::sem_destroy(&semaphore_); }
  Semaphore(const Semaphore&) = delete;
  Semaphore& operator=(const Semaphore&) = delete;

  void post() noexcept { ::sem_post(&semaphore_); }
  void wait() noexcept {
    while (::sem_wait(&semaphore_) != 0 && errno == EINTR) {
    }
  }
  /// returns  false: post() was not called in this time
  bool wait(Nanoseconds longest) noexcept {
    constexpr std::int64_t kSecond = 1'000'000'000;
    timespec until{};
    ::clock_gettime(CLOCK_MONOTONIC, &until);
    const std::int64_t end = until.tv_nsec + longest.count() % kSecond;
    until.tv_sec += static_cast<time_t>(longest.count() / kSecond + end / kSecond);
    until.tv_nsec = static_cast<long>(end % kSecond);
    while (::sem_clockwait(&semaphore_, CLOCK_MONOTONIC, &until) != 0) {
      if (errno != EINTR) return false;
    }
    return true;
  }

 private:
  sem_t semaphore_;
};

}  // namespace ringside
