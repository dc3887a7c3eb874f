#include "engine/cuda/links/proxy_server.h"

#include <utility>

namespace ringside {

ProxyServer::ProxyServer(const Failure& failure, const WaitPolicy& policy,
                         std::function<void(const Error&)> on_error)
    : failure_(failure), policy_(policy), on_error_(std::move(on_error)) {}

ProxyServer::~ProxyServer() {
  const std::lock_guard lock(mutex_);
  stop_ = true;
  changed_.notify_all();
}

void ProxyServer::set(std::vector<Proxy*> proxies) {
  const std::lock_guard lock(mutex_);
  proxies_ = std::move(proxies);
}

void ProxyServer::begin() {
  const std::lock_guard lock(mutex_);
  if (proxies_.empty()) return;
  ++under_way_;
  is_over_.store(false, std::memory_order_release);
  if (!has_failed_) is_serving_ = true;
  if (!thread_.joinable()) thread_ = std::jthread([this] { run(); });
  changed_.notify_all();
}

void ProxyServer::end() {
  const std::lock_guard lock(mutex_);
  if (proxies_.empty()) return;
  if (--under_way_ == 0) is_over_.store(true, std::memory_order_release);
  changed_.notify_all();
}

void ProxyServer::finish() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !is_serving_ || under_way_ > 0; });
}

void ProxyServer::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stop_ || is_serving_; });
    if (stop_) return;
    // No other thread changes the proxies before this round is over.
    lock.unlock();
    const Status served = serve(proxies_, is_over_, failure_, policy_);
    if (!served) on_error_(served.error());
    lock.lock();
    has_failed_ = has_failed_ || !served || failure_.happened();
    is_serving_ = !has_failed_ && under_way_ > 0;  // another launch has begun meanwhile
    changed_.notify_all();
  }
}

}  // namespace ringside
