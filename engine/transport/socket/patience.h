#pragma once

#include "base/deadline.h"
#include "base/result.h"

namespace ringside {

class Wakeup;

/// How long a wait goes on: until a deadline, or until another thread calls it off.
class Patience {
 public:
  /// Most waits have a deadline alone.
  Patience(Deadline until) : deadline_(until) {}  // NOLINT(google-explicit-constructor)

  /// off  once it is signalled, every wait ends at once; outlives the waits
  Patience(Deadline until, const Wakeup& off);

  [[nodiscard]] Deadline deadline() const { return deadline_; }

  /// The same, but for `wait` at most.
  [[nodiscard]] Patience at_most(Nanoseconds wait) const;

  /// Waits until `fd` is ready for `events`, which are poll(2)'s. An fd below 0 never is.
  /// returns  false: the deadline has passed
  /// errors   Aborted: it was called off.  System
  [[nodiscard]] Result<bool> wait_for(int fd, short events) const;

 private:
  Deadline deadline_;
  int off_ = -1;
};

}  // namespace ringside
