#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "engine/runtime/bootstrap/messages.h"

namespace ringside {

/// Returns the error of ranks that died. All ranks must report the same error, so the text does not depend on the rank
/// that noticed the death.
/// dead  ascending, not empty
Error death_of(const std::vector<int>& dead);

/// Returns the error of two ranks that lost contact with each other, in the words of a failed data connection.
/// why  what the connection of `rank` reported
Error lost_contact(Rank rank, Rank peer, const Error& why);

/// What one rank of a job has received about the failure of the job, and the rule by which it chooses the cause. Ranks
/// that received the same reports choose the same cause; `Watch` documents the order of preference.
///
/// No I/O, no threads: the caller serialises access.
class FailureReports {
 public:
  FailureReports(Rank me, int nranks) : me_(me), nranks_(nranks) {}

  /// report   of kind Abort
  /// returns  whether it is new: an equal one arrives from both sides of the ring
  bool add(const WatchMessage& report);
  [[nodiscard]] bool is_empty() const { return reports_.empty(); }

  /// Returns whether `rank` reported that it lost contact with a neighbour. Such a rank is alive.
  [[nodiscard]] bool has_lost_contact(Rank rank) const {
    return lost_contacts_.contains(to_int(rank));
  }

  /// Notes that `rank` is alive.
  /// returns  whether that is new
  bool add_present(Rank rank) { return present_.insert(to_int(rank)).second; }

  /// Returns the ranks that have not reported that they are alive, ascending, if that matters for the cause: if the
  /// cause is a rank's time-out.
  [[nodiscard]] std::vector<int> absent() const;

  /// Returns the cause. Error::is_reported_elsewhere is set unless this rank is one of those that print it.
  /// shape  !is_empty()
  [[nodiscard]] Error cause() const;

 private:
  [[nodiscard]] bool is_denied(const WatchMessage& report) const;
  [[nodiscard]] std::vector<int> deaths() const;
  [[nodiscard]] const WatchMessage& preferred() const;
  [[nodiscard]] Error no_answer(const std::vector<int>& absent, const Error& timeout) const;
  [[nodiscard]] bool is_reporter(const std::vector<int>& failed) const;

  const Rank me_;
  const int nranks_;
  std::map<std::tuple<int, int>, WatchMessage> reports_;  ///< by preference
  std::map<int, std::string> lost_contacts_;              ///< by the reporting rank
  std::set<int> present_;
};

}  // namespace ringside
