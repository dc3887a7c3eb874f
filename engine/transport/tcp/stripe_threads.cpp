#include "engine/transport/tcp/stripe_threads.h"

#include <poll.h>

#include <cerrno>
#include <utility>

#include "engine/transport/socket/socket_wait.h"

namespace ringside {

StripeThreads::~StripeThreads() {
  for (std::jthread& thread : threads_) thread.request_stop();
  for (const Wakeup& wakeup : wakeups_) wakeup.signal();
}

Status StripeThreads::start(std::vector<int> sockets, std::size_t threads, Advance advance) {
  sockets_ = std::move(sockets);
  advance_ = std::move(advance);
  for (std::size_t i = 0; i < threads; ++i) {
    RINGSIDE_TRY(Wakeup wakeup, Wakeup::make());
    wakeups_.push_back(std::move(wakeup));
  }
  for (std::size_t i = 0; i < threads; ++i) {
    threads_.emplace_back([this, i](const std::stop_token& stop) { serve(stop, i); });
  }
  return {};
}

void StripeThreads::wake(std::size_t lane) const { wakeups_[lane % wakeups_.size()].signal(); }

Status StripeThreads::status() const {
  if (ended_.load(std::memory_order_acquire) == 0) return {};
  const std::lock_guard lock(mutex_);
  return *error_;
}

Status StripeThreads::status_of_all() const {
  const bool is_over = ended_.load(std::memory_order_acquire) == sockets_.size();
  return is_over || is_broken_.load(std::memory_order_acquire) ? status() : Status();
}

void StripeThreads::end_lane(const Error& error) {
  const bool is_worse = error.code != ErrorCode::PeerGone;
  const std::lock_guard lock(mutex_);
  if (!error_ || (is_worse && error_->code == ErrorCode::PeerGone)) error_ = error;
  ended_.fetch_add(1, std::memory_order_release);
  if (is_worse) is_broken_.store(true, std::memory_order_release);
}

void StripeThreads::serve(const std::stop_token& stop, std::size_t thread) {
  std::vector<std::size_t> lanes;
  for (std::size_t lane = thread; lane < sockets_.size(); lane += wakeups_.size()) {
    lanes.push_back(lane);
  }
  std::vector<pollfd> polled;
  while (!stop.stop_requested()) {
    polled.assign(1, {wakeups_[thread].fd(), POLLIN, 0});
    std::erase_if(lanes, [&](std::size_t lane) {
      const Result<short> events = advance_(lane);
      if (!events) end_lane(events.error());
      // With no events, poll() would still report a hang-up repeatedly.
      if (events && *events != 0) polled.push_back({sockets_[lane], *events, 0});
      return !events;
    });
    if (::poll(polled.data(), polled.size(), -1) < 0 && errno != EINTR) {
      const int error_number = errno;
      for (const std::size_t lane : lanes) end_lane(stream_error(sockets_[lane], error_number));
      return;
    }
    wakeups_[thread].clear();
  }
}

}  // namespace ringside
