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

  /// returns  the work's number, for finish()
  std::uint64_t push(Work work);

  /// Enqueues a delay that uses no core, like a GPU's work. It starts when the preceding work ends, so that late
  /// wake-ups of the thread do not accumulate.
  void compute(Seconds time);

  /// Waits until all work that was enqueued before is done.
  void synchronize();

  /// Waits until the work with that number is done. The caller runs what the stream's thread has not begun, so that
  /// work that is waited for at once does not cross to another thread and back.
  void finish(std::uint64_t number);

  /// Returns whether the queue is empty and all work is done.
  [[nodiscard]] bool is_idle() const;

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct Item {
    Work work;  ///< empty: computes
    Seconds compute{0};
    Time pushed;
  };
  std::uint64_t add(Item item);
  void serve();
  /// Runs the first item of the queue, without the lock meanwhile.
  /// shape  the lock is held, there is an item, and no other thread runs one
  void run_first(std::unique_lock<std::mutex>& lock);
  [[nodiscard]] bool has_work() const { return !queue_.empty() && !is_busy_; }

  mutable std::mutex mutex_;
  std::condition_variable pushed_, done_;
  std::deque<Item> queue_;
  std::uint64_t pushes_ = 0, finished_ = 0;
  Time busy_until_{};  ///< by a host that is never late
  bool is_busy_ = false, stop_ = false;
  std::jthread thread_;  ///< started with the first work
};

}  // namespace ringside
