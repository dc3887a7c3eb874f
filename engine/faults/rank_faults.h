#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/faults/fault.h"
#include "ringside/units.h"

namespace ringside {

/// The effects of faults on one call of a rank. They apply in this order: the rank ends; the call is delayed; it is
/// skipped or postponed; it is changed; it is made a second time.
struct CallEffects {
  const Fault* ending =
      nullptr;       ///< the fault that ends the rank: Throw, Exit, Kill or Stop; null: none
  Seconds delay{0};  ///< before the call
  bool is_never_made = false;  ///< the rank hangs instead
  bool is_skipped = false;
  bool is_postponed = false;  ///< made after the next call
  bool is_repeated = false;
  std::vector<const Fault*> changes;  ///< for changed_by(), in the plan's order

  /// Returns whether the call is made as it was given.
  [[nodiscard]] bool is_plain() const {
    return ending == nullptr && delay.count() == 0 && !is_never_made && !is_skipped &&
           !is_postponed && !is_repeated && changes.empty();
  }
};

/// Returns the line about a fault of a rank that makes too few calls for it.
/// calls  of the rank, in the communicators that the fault selects
std::string unfired_text(const Fault& fault, int rank, std::int64_t calls);

/// The faults of one rank, which the rank queries at each of its calls.
///
/// Ordering   calls are numbered by the calls of effects_on_next_call(), over all communicators, and separately by
///            communicator name
/// Threads    any
class RankFaults {
 public:
  /// plan  a plan whose random choices are drawn; copied
  RankFaults(FaultPlan plan, int rank) : plan_(std::move(plan)), rank_(rank) {}

  /// Returns the effects on the rank's next call.
  /// on  the communicator's name
  [[nodiscard]] CallEffects effects_on_next_call(std::string_view on);

  /// Returns a line for each fault of the rank that has not fired: the rank made too few calls.
  [[nodiscard]] std::vector<std::string> unfired();

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
