#include "engine/runtime/host/host_stream.h"

#include <algorithm>
#include <utility>

namespace ringside {

HostStream::~HostStream() {
  const std::lock_guard lock(mutex_);
  stop_ = true;
  pushed_.notify_all();
}

std::uint64_t HostStream::push(Work work) {
  return add({.work = std::move(work), .compute = {}, .pushed = Time::clock::now()});
}

void HostStream::compute(Seconds time) {
  add({.work = {}, .compute = time, .pushed = Time::clock::now()});
}

std::uint64_t HostStream::add(Item item) {
  const std::lock_guard lock(mutex_);
  queue_.push_back(std::move(item));
  if (!thread_.joinable()) thread_ = std::jthread([this] { serve(); });
  pushed_.notify_all();
  return ++pushes_;
}

void HostStream::synchronize() {
  std::unique_lock lock(mutex_);
  const std::uint64_t mine = pushes_;
  done_.wait(lock, [&] { return finished_ >= mine; });
}

void HostStream::finish(std::uint64_t number) {
  std::unique_lock lock(mutex_);
  while (finished_ < number) {
    if (has_work()) {
      run_first(lock);
    } else {
      done_.wait(lock);
    }
  }
}

bool HostStream::is_idle() const {
  const std::lock_guard lock(mutex_);
  return finished_ == pushes_;
}

void HostStream::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    pushed_.wait(lock, [this] { return has_work() || (stop_ && queue_.empty()); });
    if (!has_work()) return;
    run_first(lock);
  }
}

void HostStream::run_first(std::unique_lock<std::mutex>& lock) {
  is_busy_ = true;
  {
    const Item item = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    busy_until_ = std::max(busy_until_, item.pushed);
    if (item.work) {
      const Time began = Time::clock::now();
      item.work();
      busy_until_ += Time::clock::now() - began;
    } else {
      busy_until_ += std::chrono::duration_cast<Time::duration>(item.compute);
      std::this_thread::sleep_until(busy_until_);
    }
    // What the work holds goes before any waiter hears that it is done.
  }
  lock.lock();
  is_busy_ = false;
  ++finished_;
  done_.notify_all();
  if (!queue_.empty()) pushed_.notify_all();
}

}  // namespace ringside
