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

/// The host's counterpart of a CUDA stream: an ordered queue of work with its own thread. Work of one stream runs one
/// after the other, work of two streams concurrently. As in NCCL, two communicators deadlock if ranks use them in
/// opposite order on one stream.
///
/// Ordering   as pushed
/// Threads    any
/// Ownership  the destructor waits for all work; the objects that the work uses must live until then
class HostStream {
 public:
  using Work = std::function<void()>;

  HostStream() = default;
  ~HostStream();
  HostStream(const HostStream&) = delete;
  HostStream& operator=(const HostStream&) = delete;

  void push(Work work);

  /// Enqueues a delay that uses no core, like a GPU's work. It starts when the preceding work ends, so that late
  /// wake-ups of the thread do not accumulate.
  void compute(Seconds time);

  /// Waits until all work that was enqueued before is done.
  void synchronize();

  /// Returns whether the queue is empty and all work is done.
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
