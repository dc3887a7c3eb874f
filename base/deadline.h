#pragma once

#include <algorithm>
#include <compare>

#include "base/clock.h"
#include "ringside/units.h"

namespace ringside {

/// When a wait gives up, and by which clock. The code that starts a job makes the deadline; what it calls passes it
/// on, so that ten waits in a row still end at one time.
class Deadline {
 public:
  Deadline() = default;  ///< has passed
  Deadline(Clock& clock, Clock::Time at) : clock_(&clock), at_(at) {}

  /// A deadline that never passes.
  static Deadline never(Clock& clock) { return {clock, Clock::kNever}; }

  [[nodiscard]] Clock& clock() const { return *clock_; }
  [[nodiscard]] Clock::Time at() const { return at_; }
  [[nodiscard]] bool has_passed() const { return clock_->now() >= at_; }

  /// The earlier of this one and `wait` from now.
  [[nodiscard]] Deadline within(Nanoseconds wait) const {
    return {*clock_, std::min(at_, clock_->now() + wait)};
  }

  /// poll(2) until then.
  /// returns  as poll(2); 0: it has passed
  int poll(std::span<pollfd> polled) const { return clock_->poll(polled, at_); }

  /// Compares two deadlines of the same clock.
  friend auto operator<=>(const Deadline& a, const Deadline& b) { return a.at_ <=> b.at_; }
  friend bool operator==(const Deadline& a, const Deadline& b) { return a.at_ == b.at_; }
  friend Deadline operator-(const Deadline& deadline, Nanoseconds earlier) {
    return {*deadline.clock_, deadline.at_ - earlier};
  }

 private:
  Clock* clock_ = &real_clock();
  Clock::Time at_{};
};

inline Deadline deadline_in(Nanoseconds wait, Clock& clock = real_clock()) {
  return {clock, clock.now() + wait};
}

inline bool has_passed(const Deadline& deadline) { return deadline.has_passed(); }

}  // namespace ringside
