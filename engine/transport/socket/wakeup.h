#pragma once

#include <utility>

#include "base/fd.h"
#include "base/result.h"

namespace ringside {

/// Ends another thread's poll(2). Its descriptor is readable from signal() until clear(); a Counter's is readable until
/// clear() has been called as often as signal().
///
/// Threads   any
class Wakeup {
 public:
  enum class Kind { Flag, Counter };

  /// errors  System: out of file descriptors
  static Result<Wakeup> make(Kind kind = Kind::Flag);

  /// Async-signal-safe.
  void signal() const noexcept;
  /// Reverses one signal() of a Counter, or all signals of a Flag. Has no effect without a signal.
  void clear() const noexcept;
  [[nodiscard]] int fd() const { return fd_.get(); }

 private:
  explicit Wakeup(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

}  // namespace ringside
