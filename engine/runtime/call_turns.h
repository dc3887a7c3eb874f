#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace ringside {

/// Who comes when: calls of one communicator that wait on several streams begin in the order in which they were
/// enqueued, which is the same on every rank.
///
/// Ordering   take(), wait_for(), finish() of each
/// Threads    any
class CallTurns {
 public:
  [[nodiscard]] std::uint64_t take() {
    const std::lock_guard lock(mutex_);
    return taken_++;
  }

  /// Returns when all before this turn are finished.
  void wait_for(std::uint64_t turn) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return finished_ == turn; });
  }

  void finish() {
    const std::lock_guard lock(mutex_);
    ++finished_;
    changed_.notify_all();
  }

  /// Returns when all that have been taken are finished.
  void wait_all() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return finished_ == taken_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t taken_ = 0, finished_ = 0;
};

}  // namespace ringside
