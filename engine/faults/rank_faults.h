#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/faults/fault.h"
#include "ringside/units.h"

namespace ringside {

/// The effects of faults on one call of a rank. They apply in this order: the rank ends; the call is delayed; it is
/// skipped or postponed; it is changed; it is made a second time.
struct CallFate {
  const Fault* end = nullptr;  ///< Throw, Exit, Kill, Stop
  Seconds late{0};
  bool never = false;  ///< the rank never makes the call
  bool is_left_out = false;
  bool is_put_off = false;  ///< behind the next call
  bool is_made_twice = false;
  std::vector<const Fault*> changes;  ///< for changed_by(), in the plan's order

  /// Returns whether the call is made as it was given.
  [[nodiscard]] bool is_plain() const {
    return end == nullptr && late.count() == 0 && !never && !is_left_out && !is_put_off &&
           !is_made_twice && changes.empty();
  }
};

/// The faults of one rank, which the rank queries at each of its calls.
///
/// Ordering   calls are numbered by the calls of fate_of(), over all communicators, and separately by communicator
///            name
/// Threads    any
class RankFaults {
 public:
  /// plan  a plan whose random choices are drawn; copied
  RankFaults(FaultPlan plan, int rank) : plan_(std::move(plan)), rank_(rank) {}

  /// The fate of the rank's next call.
  /// on  the communicator's name
  [[nodiscard]] CallFate fate_of(std::string_view on);

  [[nodiscard]] const FaultPlan& plan() const { return plan_; }
  [[nodiscard]] int rank() const { return rank_; }

 private:
  struct Counted {
    std::string on;
    std::int64_t calls = 0;
  };
  const FaultPlan plan_;
  const int rank_;
  std::mutex mutex_;
  std::vector<Counted> counted_;  ///< by name
  std::int64_t calls_ = 0;
};

}  // namespace ringside
