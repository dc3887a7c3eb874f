#include "base/clock.h"

#include <algorithm>
#include <ctime>
#include <utility>

namespace ringside {
namespace {

class RealClock final : public Clock {
 public:
  [[nodiscard]] Time now() const noexcept override { return std::chrono::steady_clock::now(); }

  int poll(std::span<pollfd> polled, Time until) override {
    if (until == kNever) return ::ppoll(polled.data(), polled.size(), nullptr, nullptr);
    const std::int64_t left = std::max<Nanoseconds>(until - now(), Nanoseconds{0}).count();
    constexpr std::int64_t kSecond = 1'000'000'000;
    const timespec time{static_cast<time_t>(left / kSecond), static_cast<long>(left % kSecond)};
    return ::ppoll(polled.data(), polled.size(), &time, nullptr);
  }
};

}  // namespace

Clock& real_clock() {
  static RealClock clock;
  return clock;
}

std::jthread start_thread(Clock& clock, std::function<void(const std::stop_token&)> body) {
  clock.thread_begins();
  return std::jthread([&clock, body = std::move(body)](const std::stop_token& stop) {
    body(stop);
    clock.thread_ends();
  });
}

}  // namespace ringside
