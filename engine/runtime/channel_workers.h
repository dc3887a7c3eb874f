#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace ringside {

/// Threads that work on the channels of one communicator side by side: channel 0 on the caller's own
/// thread, each other one on a thread that lives as long as the communicator.
///
/// Threads  one at a time calls run()
class ChannelWorkers {
 public:
  ChannelWorkers() = default;
  ~ChannelWorkers();
  ChannelWorkers(const ChannelWorkers&) = delete;
  ChannelWorkers& operator=(const ChannelWorkers&) = delete;

  /// Calls work(0), .. work(nchannels - 1) at the same time; returns when all have returned.
  /// Starts the threads that are not there yet.
  void run(int nchannels, const std::function<void(int)>& work);

 private:
  void serve(int channel);

  std::mutex mutex_;
  std::condition_variable begin_;
  std::condition_variable done_;
  const std::function<void(int)>* work_ = nullptr;  ///< under mutex_
  int nchannels_ = 0;                               ///< under mutex_: of the current round
  std::uint64_t round_ = 0;                         ///< under mutex_
  int busy_ = 0;                                    ///< under mutex_
  bool stop_ = false;                               ///< under mutex_
  std::vector<std::jthread> threads_;
};

}  // namespace ringside
