#pragma once

#include <simgrid/s4u.hpp>
#include <utility>

namespace ringside {

/// Where actors wait for an event that others cause. (Suspending an actor would halt what it
/// sends, too.) An actor that wakes up looks again whether it is there. Actors run one at a time: no locks.
class Signal {
 public:
  void wait() {
    ++waiting_;
    semaphore_->acquire();
  }
  void wake_all() {
    // An actor that wakes up runs before this returns, and may wait anew: not for this call.
    for (int left = std::exchange(waiting_, 0); left > 0; --left) semaphore_->release();
  }

 private:
  simgrid::s4u::SemaphorePtr semaphore_ = simgrid::s4u::Semaphore::create(0);
  int waiting_ = 0;
};

}  // namespace ringside
