#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/cuda/links/proxy.h"

namespace ringside {

/// A thread that serves a rank's proxies while any of its launches is running, and until all their messages have been
/// sent.
///
/// Threads    any, except for set()
/// Ownership  proxies and failure outlive it
class ProxyServer {
 public:
  /// on_error  called on the server's thread with the error of serve(); after that nothing is served
  ProxyServer(const Failure& failure, const WaitPolicy& policy,
              std::function<void(const Error&)> on_error);
  ~ProxyServer();
  ProxyServer(const ProxyServer&) = delete;
  ProxyServer& operator=(const ProxyServer&) = delete;

  /// Replaces the set of proxies.
  /// shape  no launch is running
  void set(std::vector<Proxy*> proxies);

  /// Call begin() before a launch, and end() when it has ended. Launches may overlap.
  void begin();
  void end();

  /// Waits until all messages of ended launches have been sent, or until another launch begins, which keeps the server
  /// running.
  void finish();

 private:
  void run();

  const Failure& failure_;
  const WaitPolicy policy_;
  const std::function<void(const Error&)> on_error_;
  std::atomic<bool> is_over_{true};  ///< no launch is running
  std::mutex mutex_;                 ///< guards what follows
  std::condition_variable changed_;
  std::vector<Proxy*> proxies_;
  int under_way_ = 0;
  bool is_serving_ = false, has_failed_ = false, stop_ = false;
  /// Started with the first launch that has proxies; last member, because it uses all others
  std::jthread thread_;
};

}  // namespace ringside
