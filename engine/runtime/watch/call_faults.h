#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "engine/faults/rank_faults.h"
#include "engine/runtime/calls/call.h"
#include "engine/runtime/calls/failure.h"

namespace ringside {

/// The exception that CallFaults throws for a `throw` fault.
class PlannedException : public std::runtime_error {
 public:
  PlannedException() : std::runtime_error("an exception, as planned by a fault") {}
};

/// Applies a fault plan to the calls of one rank, in all its communicators.
///
/// A call that a fault changes, postpones or repeats runs on separate memory, since its count may not fit the caller's
/// buffers, and the caller may have freed them. Its result is discarded. A postponed call runs after the rank's next
/// call in any communicator. If that next call is postponed as well, it takes the place of the earlier one, which is
/// never made.
///
/// Threads    any
/// Ownership  outlives the rank's communicators
class CallFaults {
 public:
  /// plan  a plan whose random values have been drawn
  CallFaults(FaultPlan plan, int rank) : faults_(std::move(plan), rank) {}

  /// A communicator, and the function that runs its calls.
  struct Caller {
    const void* who = nullptr;
    std::string on;  ///< CommunicatorOptions::family, by which faults select it
    int nranks = 1;
    const Failure* failure = nullptr;  ///< ends a stall once it holds an error
    Clock* clock = &real_clock();
    std::function<Status(const CollectiveCall& call)> run;
  };

  /// Runs the call, modified, postponed or skipped as the next fault of the plan says.
  /// errors  as Caller::run.  Throws PlannedException, or ends or stops the process, if the plan says so
  Status make(const Caller& caller, const CollectiveCall& call);

  /// Drops the postponed calls of a communicator. Call it before the communicator is destroyed.
  void forget(const void* who);

  /// Returns a line for each fault of the rank's calls that has not fired.
  [[nodiscard]] std::vector<std::string> unfired() { return faults_.unfired(); }

  [[nodiscard]] const FaultPlan& plan() const { return faults_.plan(); }

 private:
  struct Postponed {
    Caller caller;
    CollectiveCall call;
  };
  Status make_postponed();

  RankFaults faults_;
  std::mutex mutex_;
  std::optional<Postponed> postponed_;  ///< under mutex_
};

}  // namespace ringside
