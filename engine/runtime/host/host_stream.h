#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "ringside/units.h"

namespace ringside {

/// What a CUDA stream is to NCCL: an ordered queue of work with a thread of its own. Work of one stream comes
/// one after the other, that of two streams concurrently. Two communicators that ranks enter in opposite
/// order on one stream wait for each other for ever, as NCCL's do.
///
/// Ordering   as pushed
/// Threads    any
/// Ownership  ends when its work is done; what the work uses outlives that
class HostStream {
 public:
  using Work = std::function<void()>;

  HostStream() = default;
  ~HostStream();
  HostStream(const HostStream&) = delete;
  HostStream& operator=(const HostStream&) = delete;

  void push(Work work);

  /// Work that takes so long and leaves the cores alone, as a GPU's does. It counts from when its turn came: that the
  /// host wakes a thread late does not add up.
  void compute(Seconds time);

  /// Returns when all that was pushed before it is done.
  void synchronize();

  /// Whether nothing is left to do.
  [[nodiscard]] bool is_idle() const;

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct Item {
    Work work;  ///< empty: computes
    Seconds compute{0};
    Time pushed;
  };
  void add(Item item);
  void serve();

  mutable std::mutex mutex_;
  std::condition_variable pushed_, done_;
  std::deque<Item> queue_;
  std::uint64_t pushes_ = 0, finished_ = 0;
  bool stop_ = false;
  std::jthread thread_;  ///< started with the first work
};

}  // namespace ringside
