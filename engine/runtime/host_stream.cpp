#include "engine/runtime/host_stream.h"

#include <utility>

namespace ringside {

HostStream::~HostStream() {
  const std::lock_guard lock(mutex_);
  stop_ = true;
  pushed_.notify_all();
}

void HostStream::push(Work work) {
  const std::lock_guard lock(mutex_);
  queue_.push_back(std::move(work));
  ++pushes_;
  if (!thread_.joinable()) thread_ = std::jthread([this] { serve(); });
  pushed_.notify_all();
}

void HostStream::compute(Seconds time) {
  push([time] { std::this_thread::sleep_for(time); });
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
  std::unique_lock lock(mutex_);
  for (;;) {
    pushed_.wait(lock, [this] { return stop_ || !queue_.empty(); });
    if (queue_.empty()) return;
    Work work = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    work();
    work = {};  // what it holds goes before anybody hears that it is done
    lock.lock();
    ++finished_;
    done_.notify_all();
  }
}

}  // namespace ringside
