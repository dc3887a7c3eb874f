#pragma once

#include <atomic>
#include <list>
#include <mutex>
#include <thread>

#include "engine/capi/handles.h"

namespace ringside {

/// Communicators that were destroyed without finalize. Each waits on a thread until the other ranks destroy theirs as
/// well; otherwise they would report this rank as dead.
class Leaving {
 public:
  /// Returns the object of this process. Its destructor waits for all communicators.
  static Leaving& of_process();

  /// Starts the thread that waits for the other ranks and then frees the communicator. The caller must not use it any
  /// more.
  void add(rsComm_t comm);

 private:
  struct One {
    std::atomic<bool> is_gone{false};  ///< the communicator is freed, so the thread can be joined
    std::jthread thread;
  };
  std::mutex mutex_;
  std::list<One> all_;
};

}  // namespace ringside
