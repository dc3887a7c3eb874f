#include "engine/runtime/host/host_stream.h"

#include <algorithm>
#include <utility>

namespace ringside {

HostStream::~HostStream() {
  const std::lock_guard lock(mutex_);
  stop_ = true;
  pushed_.notify_all();
}

void HostStream::push(Work work) {
  add({.work = std::move(work), .compute = {}, .pushed = Time::clock::now()});
}

void HostStream::compute(Seconds time) {
  add({.work = {}, .compute = time, .pushed = Time::clock::now()});
}

void HostStream::add(Item item) {
  const std::lock_guard lock(mutex_);
  queue_.push_back(std::move(item));
  ++pushes_;
  if (!thread_.joinable()) thread_ = std::jthread([this] { serve(); });
  pushed_.notify_all();
}

void HostStream::synchronize() {
  std::unique_lock lock(mutex_);
  const std::uint64_t mine = pushes_;
  done_.wait(lock, [&] { return finished_ >= mine; });
}

bool HostStream::is_idle() const {
  const std::lock_guard lock(mutex_);
  return finished_ == pushes_;
}

void HostStream::serve() {
  Time busy_until{};  // time until which the stream is busy, if the host is never late
  std::unique_lock lock(mutex_);
  for (;;) {
    pushed_.wait(lock, [this] { return stop_ || !queue_.empty(); });
    if (queue_.empty()) return;
    {
      const Item item = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      busy_until = std::max(busy_until, item.pushed);
      if (item.work) {
        const Time began = Time::clock::now();
        item.work();
        busy_until += Time::clock::now() - began;
      } else {
        busy_until += std::chrono::duration_cast<Time::duration>(item.compute);
        std::this_thread::sleep_until(busy_until);
      }
      // Destroys the work's captures before any waiter learns that the work is done.
    }
    lock.lock();
    ++finished_;
    done_.notify_all();
  }
}

}  // namespace ringside
