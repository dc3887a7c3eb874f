#pragma once

#include <simgrid/s4u.hpp>
#include <utility>

namespace ringside {

/// A condition that actors wait for. An actor that wakes up must check again whether the condition
/// holds. Actors run one at a time, so no lock is needed. (Suspending an actor would also suspend
/// its sends.)
class Signal {
 public:
  void wait() {
    ++waiting_;
    semaphore_->acquire();
  }
  void wake_all() {
    // An actor that wakes up runs before release() returns and may wait again; this loop must not
    // wake it twice.
    for (int left = std::exchange(waiting_, 0); left > 0; --left) semaphore_->release();
  }

 private:
  simgrid::s4u::SemaphorePtr semaphore_ = simgrid::s4u::Semaphore::create(0);
  int waiting_ = 0;
};

}  // namespace ringside
