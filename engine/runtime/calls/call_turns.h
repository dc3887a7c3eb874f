#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace ringside {

/// The order of calls: calls of one communicator that wait on several streams begin in the order in which they were
/// enqueued, which is the same on every rank; and none behind one that has failed.
///
/// Ordering   take(), begin(), finish() of each
/// Threads    any
class CallTurns {
 public:
  [[nodiscard]] std::uint64_t take() {
    const std::lock_guard lock(mutex_);
    return taken_++;
  }

  /// Returns when all calls before this turn are finished.
  /// returns  false: close() came first, and the caller does and finishes nothing
  [[nodiscard]] bool begin(std::uint64_t turn) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_closed_ || finished_ == turn; });
    if (is_closed_) return false;
    is_under_way_ = true;
    return true;
  }

  void finish() {
    const std::lock_guard lock(mutex_);
    is_under_way_ = false;
    ++finished_;
    changed_.notify_all();
  }

  /// No call begins from now on.
  void close() {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
    changed_.notify_all();
  }

  /// Returns when no call is under way and none of those that have been taken will begin.
  void wait_all() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return finished_ == taken_ || (is_closed_ && !is_under_way_); });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t taken_ = 0, finished_ = 0;
  bool is_closed_ = false, is_under_way_ = false;
};

}  // namespace ringside
