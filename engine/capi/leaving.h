#pragma once

#include <atomic>
#include <list>
#include <mutex>
#include <thread>

#include "engine/capi/handles.h"

namespace ringside {

/// Communicators that were destroyed and not finalized: each waits on a thread for the other ranks, which destroy
/// theirs when they come to it, and goes then. A rank that left earlier would be taken for dead.
class Leaving {
 public:
  /// Of this process. Its end waits for all.
  static Leaving& of_process();

  void add(rsComm_t comm);

 private:
  struct One {
    std::atomic<bool> is_gone{false};
    std::jthread thread;
  };
  std::mutex mutex_;
  std::list<One> all_;
};

}  // namespace ringside
