#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace ringside {

/// Orders the calls of one communicator that wait on several streams: they begin in the order in which they were
/// enqueued, which is the same on every rank. After close() no call begins.
///
/// Ordering   take(), begin() and finish(), once for each call
/// Threads    any
class CallTurns {
 public:
  [[nodiscard]] std::uint64_t take() {
    const std::lock_guard lock(mutex_);
    return taken_++;
  }

  /// Waits until all calls before this turn are finished.
  /// returns  true: the caller runs its call and calls finish().  false: closed; the caller does neither
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

  /// Prevents all later calls from beginning.
  void close() {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
    changed_.notify_all();
  }

  /// Waits until no call is running and no turn that was taken will still begin.
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
