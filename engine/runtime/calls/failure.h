#pragma once

#include <atomic>
#include <mutex>
#include <optional>

#include "ringside/error.h"

namespace ringside {

/// Holds the first Error of a communicator. Later errors are consequences, and are dropped.
///
/// Threads  any
class Failure {
 public:
  [[nodiscard]] bool happened() const { return happened_.load(std::memory_order_acquire); }

  /// returns  true: the error was stored.  false: an earlier one is kept
  bool set(Error error) {
    const std::lock_guard lock(mutex_);
    if (error_) return false;
    error_ = std::move(error);
    happened_.store(true, std::memory_order_release);
    return true;
  }

  [[nodiscard]] std::optional<Error> get() const {
    const std::lock_guard lock(mutex_);
    return error_;
  }

 private:
  std::atomic<bool> happened_{false};
  mutable std::mutex mutex_;
  std::optional<Error> error_;
};

}  // namespace ringside
