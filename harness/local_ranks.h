#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "ringside/units.h"

namespace ringside {

/// What a rank's process knows of its place among the local ones.
class LocalRank {
 public:
  LocalRank(int rank, int nranks, int to_parent, int from_parent)
      : rank_(rank), nranks_(nranks), to_parent_(to_parent), from_parent_(from_parent) {}

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int nranks() const { return nranks_; }

  /// Rank 0 sends the others one line of text (the communicator's id) ...
  /// errors  System
  Status publish(const std::string& line) const;
  /// ... which they wait for. returns  the line
  /// errors  PeerGone: the launching process or rank 0 ended first.  Timeout: rank 0 is stuck
  [[nodiscard]] Result<std::string> wait_for_line(Seconds longest) const;

 private:
  int rank_;
  int nranks_;
  int to_parent_;
  int from_parent_;
};

/// What a rank's process does; the result's number is its exit status.
using RankMain = std::function<Result<int>(const LocalRank&)>;

/// Forks `nranks` processes, runs `main` in each and waits for all of them.
///
/// When one dies or fails, the others get `grace` to notice by themselves (which lets them flush
/// their traces) and are then killed; they also die with this process, whatever kills it.
///
/// Threads  fork() needs a process without other threads: call it before any is started
/// returns  the largest exit status, when no rank failed
/// errors   the one that explains the others: a rank killed by a signal (PeerGone, names rank, pid and
///          signal), else the first Error that a rank returned which is not itself a consequence of
///          another's end (PeerGone, Aborted), else the first; System: fork failed
Result<int> run_local_ranks(int nranks, const RankMain& main, Seconds grace = Seconds{3});

}  // namespace ringside
