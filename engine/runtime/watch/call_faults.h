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

/// The exception that a rank gets where the plan says `throw`.
class PlannedException : public std::runtime_error {
 public:
  PlannedException() : std::runtime_error("an exception, as planned by a fault") {}
};

/// Applies the plan of faults to the calls of one rank, in all its communicators.
///
/// A call that is changed, put off or made once more runs on memory of its own: its count may not be that of
/// the caller's buffers, and the caller may have let go of them. What it computes is lost. One that is put
/// off is made after the rank's next call, of whichever communicator.
///
/// Threads    any
/// Ownership  outlives the rank's communicators
class CallFaults {
 public:
  /// plan  drawn
  CallFaults(FaultPlan plan, int rank) : faults_(std::move(plan), rank) {}

  /// A communicator and how it makes its calls.
  struct Caller {
    const void* who = nullptr;
    std::string on;  ///< what faults call it
    int nranks = 1;
    const Failure* failure = nullptr;  ///< once it has happened, a rank that stalls does so no more
    Clock* clock = &real_clock();
    std::function<Status(const CollectiveCall& call)> run;
  };

  /// Makes the call, or what the fault makes of it.
  /// errors  as the callers' run.  Throws PlannedException where the plan says so; ends or stops the
  ///         process likewise
  Status make(const Caller& caller, const CollectiveCall& call);

  /// The communicator is being destroyed; its postponed calls are dropped.
  void forget(const void* who);

  [[nodiscard]] const FaultPlan& plan() const { return faults_.plan(); }

 private:
  struct PutOff {
    Caller caller;
    CollectiveCall call;
  };
  Status make_put_off();

  RankFaults faults_;
  std::mutex mutex_;
  std::optional<PutOff> put_off_;  ///< under mutex_
};

}  // namespace ringside
