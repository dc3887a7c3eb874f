#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "ringside/units.h"

namespace ringside {

/// The view of one forked rank process.
class LocalRank {
 public:
  LocalRank(int rank, int nranks, int to_parent, int from_parent)
      : rank_(rank), nranks_(nranks), to_parent_(to_parent), from_parent_(from_parent) {}

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int nranks() const { return nranks_; }

  /// Sends one line (the communicator's id) from rank 0 to the other ranks.
  /// errors  System
  Status publish(const std::string& line) const;
  /// Waits for that line on the other ranks. returns  the line
  /// errors  PeerGone: the launching process or rank 0 ended first.  Timeout: rank 0 sent nothing
  [[nodiscard]] Result<std::string> wait_for_line(Seconds longest) const;

 private:
  int rank_;
  int nranks_;
  int to_parent_;
  int from_parent_;
};

/// The main function of a rank's process. It returns the exit status.
using RankMain = std::function<Result<int>(const LocalRank&)>;

/// Forks `nranks` processes, runs `main` in each and waits for all of them.
///
/// When a process dies or fails, the others get `grace` to notice by themselves and to flush their
/// traces; then they are killed. They also die with this process.
///
/// Threads  call it before any thread is started: it forks
/// returns  the largest exit status, if no rank failed
/// errors   the root cause: a rank killed by a signal (PeerGone; names rank, pid and signal), else
///          the first Error other than a consequence of another rank's end (PeerGone, Aborted),
///          else the first Error; System: fork failed
Result<int> run_local_ranks(int nranks, const RankMain& main, Seconds grace = Seconds{3});

}  // namespace ringside
