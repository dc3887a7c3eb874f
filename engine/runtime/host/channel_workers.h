#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace ringside {

/// Threads that work on the channels of one communicator concurrently: channel 0 on the caller's own thread, each other
/// channel on a thread that lives as long as the communicator.
///
/// Ordering   begin() and finish() alternate
/// Threads    one thread at a time
class ChannelWorkers {
 public:
  using Work = std::function<void(int channel)>;

  ChannelWorkers() = default;
  ~ChannelWorkers();
  ChannelWorkers(const ChannelWorkers&) = delete;
  ChannelWorkers& operator=(const ChannelWorkers&) = delete;

  /// Calls work(0) .. work(nchannels - 1) concurrently, and returns when work(0) has returned. Starts missing threads.
  /// work  must live until finish() returns
  void begin(int nchannels, const Work& work);

  /// Waits until all calls of work() have returned.
  void finish();

 private:
  void serve(int channel);

  bool is_shared_ = false;  ///< the caller's: whether other threads have begun as well
  std::mutex mutex_;
  std::condition_variable begin_;
  std::condition_variable done_;
  const Work* work_ = nullptr;  ///< under mutex_
  int nchannels_ = 0;           ///< under mutex_: of the current round
  std::uint64_t round_ = 0;     ///< under mutex_
  int busy_ = 0;                ///< under mutex_
  bool stop_ = false;           ///< under mutex_
  std::vector<std::jthread> threads_;
};

}  // namespace ringside
