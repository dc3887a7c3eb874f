#pragma once

#include <semaphore.h>

#include <cerrno>
#include <ctime>

#include "ringside/units.h"

namespace ringside {

/// A wish that several threads and a signal's handler may make. It counts.
class Bell {
 public:
  Bell() { ::sem_init(&semaphore_, 0, 0); }
  ~Bell() { ::sem_destroy(&semaphore_); }
  Bell(const Bell&) = delete;
  Bell& operator=(const Bell&) = delete;

  void ring() noexcept { ::sem_post(&semaphore_); }
  void wait() noexcept {
    while (::sem_wait(&semaphore_) != 0 && errno == EINTR) {
    }
  }
  /// returns  false: nobody has rung meanwhile
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
