#pragma once

#include <algorithm>
#include <compare>

#include "base/clock.h"
#include "ringside/units.h"

namespace ringside {

/// The time at which a wait times out, with its clock. The code that starts a job makes the deadline and passes it on, so
/// that ten consecutive waits time out at one time.
class Deadline {
 public:
  Deadline() = default;  ///< already passed
  Deadline(Clock& clock, Clock::Time at) : clock_(&clock), at_(at) {}

  /// Returns a deadline that never passes.
  static Deadline never(Clock& clock) { return {clock, Clock::kNever}; }

  [[nodiscard]] Clock& clock() const { return *clock_; }
  [[nodiscard]] Clock::Time at() const { return at_; }
  [[nodiscard]] bool has_passed() const { return clock_->now() >= at_; }

  /// Returns the earlier of this deadline and `wait` from now.
  [[nodiscard]] Deadline within(Nanoseconds wait) const {
    return {*clock_, std::min(at_, clock_->now() + wait)};
  }

  /// Calls poll(2) until the deadline.
  /// returns  as poll(2); 0: the deadline has passed
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

/// Returns the deadline after this wait.
inline Deadline deadline_in(Nanoseconds wait, Clock& clock = real_clock()) {
  return {clock, clock.now() + wait};
}

/// Returns deadline.has_passed(), for code that reads as a sentence: while (!has_passed(deadline)).
inline bool has_passed(const Deadline& deadline) { return deadline.has_passed(); }

}  // namespace ringside
