#include "tests/support/fake_clock.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "base/assert.h"
#include "base/fd.h"

namespace ringside {
namespace {

/// Data that one thread has sent over loopback may reach the other's socket a moment after the call.
constexpr int kInFlightMs = 5;

}  // namespace

struct FakeClock::Sleeper {
  std::span<pollfd> polled;
  Time until;
  UniqueFd woken;
};

Clock::Time FakeClock::now() const noexcept {
  const std::lock_guard lock(mutex_);
  return now_;
}

int FakeClock::poll(std::span<pollfd> polled, Time until) {
  // The kernel reports at once what is there already.
  const int ready = ::poll(polled.data(), polled.size(), 0);
  if (ready != 0) return ready;
  Sleeper self{polled, until, UniqueFd(::eventfd(0, EFD_CLOEXEC))};
  RINGSIDE_ASSERT(self.woken, "eventfd: errno {}", errno);
  std::vector<pollfd> all(polled.begin(), polled.end());
  all.push_back({self.woken.get(), POLLIN, 0});
  {
    const std::lock_guard lock(mutex_);
    if (now_ >= until) return 0;
    sleepers_.push_back(&self);
    move_on_if_all_wait();
  }
  int found = 0;
  do {
    found = ::poll(all.data(), all.size(), -1);
  } while (found < 0 && errno == EINTR);
  const std::lock_guard lock(mutex_);
  std::erase(sleepers_, &self);
  for (std::size_t i = 0; i < polled.size(); ++i) polled[i].revents = all[i].revents;
  return found - (all.back().revents != 0 ? 1 : 0);
}

void FakeClock::thread_begins() noexcept {
  const std::lock_guard lock(mutex_);
  ++threads_;
}

void FakeClock::thread_ends() noexcept {
  const std::lock_guard lock(mutex_);
  --threads_;
  move_on_if_all_wait();
}

void FakeClock::advance(Nanoseconds time) {
  const std::lock_guard lock(mutex_);
  move_to(now_ + time);
}

void FakeClock::move_on_if_all_wait() {
  if (sleepers_.empty() || static_cast<int>(sleepers_.size()) < threads_ || !is_quiet()) return;
  const Time next = (*std::ranges::min_element(sleepers_, {}, &Sleeper::until))->until;
  if (next != kNever) move_to(next);
}

void FakeClock::move_to(Time time) {
  now_ = std::max(now_, time);
  for (Sleeper* sleeper : sleepers_) {
    const std::uint64_t one = 1;
    if (sleeper->until <= now_) {
      RINGSIDE_ASSERT(::write(sleeper->woken.get(), &one, sizeof one) > 0, "errno {}", errno);
    }
  }
}

bool FakeClock::is_quiet() {
  std::vector<pollfd> all;
  for (const Sleeper* sleeper : sleepers_) {
    for (const pollfd& one : sleeper->polled) {
      if (one.fd >= 0) all.push_back(one);
    }
    all.push_back({sleeper->woken.get(), POLLIN, 0});
  }
  const bool has_descriptors = all.size() > sleepers_.size();
  return ::poll(all.data(), all.size(), has_descriptors ? kInFlightMs : 0) == 0;
}

void ClockBarrier::arrive_and_wait() {
  std::unique_lock lock(mutex_);
  if (++arrived_ == threads_) {
    arrived_ = 0;
    ++round_;
    for (int i = 1; i < threads_; ++i) clock_.thread_begins();
    return all_here_.notify_all();
  }
  clock_.thread_ends();
  const int round = round_;
  all_here_.wait(lock, [&] { return round_ != round; });
}

}  // namespace ringside
