#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "diag/hangdetect/readers/call.h"
#include "diag/hangdetect/readers/log_groups.h"
#include "diag/hangdetect/readers/names.h"
#include "diag/hangdetect/readers/run_notes.h"
#include "diag/job/watchdog_waits.h"
#include "diag/logparse/record.h"

namespace ringside::hang {

/// Returns the file name and the line number, from 1, of a place in the logs.
using WhereFunction = std::function<std::pair<std::string, std::int64_t>(logs::Place)>;

/// Makes dumps from PyTorch's watchdog lines: the call in which a rank is blocked, and the last call that it enqueued.
class LogDumps {
 public:
  explicit LogDumps(Names& names) : names_(names) {}

  /// Takes a line like job::WatchdogWaits::take(); take_line() like WatchdogWaits::take_line().
  void take(const logs::Record& record, int rank) { waits_.take(record, rank); }
  void take_line(const logs::Record& record, int rank) { waits_.take_line(record, rank); }

  /// Returns one dump for each rank. It has, for each group that can be identified, the oldest call that the rank waits
  /// in.
  std::vector<RankDump> finish(const WhereFunction& where, const LogGroups& groups);

  /// Returns the ranks that wait in a call of an unknown group.  shape  after finish()
  [[nodiscard]] const std::vector<int>& unplaced() const { return unplaced_; }
  [[nodiscard]] const job::WatchdogWaits& waits() const { return waits_; }

 private:
  /// Adds the sequence numbers of the group from the rank's dump signal.
  void add_signal(const job::Wait& signal, const GroupName& group, std::int64_t line,
                  RankDump& dump);
  void add_call(const job::Wait& one, const GroupName& group, std::int64_t line, RankDump& dump);
  [[nodiscard]] static std::optional<GroupName> group_of(const job::Wait& one, int rank,
                                                         std::int64_t sequence,
                                                         const LogGroups& groups);
  /// Returns whether some rank has a group rank other than its global rank, so that the job has subgroups.
  [[nodiscard]] bool shows_subgroups() const;

  Names& names_;
  job::WatchdogWaits waits_;
  std::vector<int> unplaced_;
};

/// Converts the wait of a rank of which only the group rank is known.
GroupWait group_wait(const job::Wait& one);

}  // namespace ringside::hang
