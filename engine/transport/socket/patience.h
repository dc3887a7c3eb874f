#pragma once

#include "base/deadline.h"
#include "base/result.h"

namespace ringside {

class Wakeup;

/// The limit of a wait: it ends at a deadline, or when another thread cancels it.
class Patience {
 public:
  /// Makes a limit by deadline alone.
  Patience(Deadline until) : deadline_(until) {}  // NOLINT(google-explicit-constructor)

  /// Makes a limit that can also be cancelled.
  /// off  cancels every wait at once when it is signalled; outlives the waits
  Patience(Deadline until, const Wakeup& off);

  [[nodiscard]] Deadline deadline() const { return deadline_; }

  /// Returns the same limit, shortened to `wait` from now.
  [[nodiscard]] Patience at_most(Nanoseconds wait) const;

  /// Waits until `fd` is ready for `events` (of poll(2)). An fd below 0 is never ready.
  /// returns  false: the deadline has passed
  /// errors   Aborted: the wait was cancelled.  System
  [[nodiscard]] Result<bool> wait_for(int fd, short events) const;

 private:
  Deadline deadline_;
  int off_ = -1;
};

}  // namespace ringside
