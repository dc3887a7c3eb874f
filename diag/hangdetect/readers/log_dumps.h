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

/// File and line of a place in the logs.
using WhereFunction = std::function<std::pair<std::string, std::int64_t>(logs::Place)>;

/// Turns PyTorch's watchdog lines into dumps: the call that a rank is blocked in, and how far it had enqueued.
class LogDumps {
 public:
  explicit LogDumps(Names& names) : names_(names) {}

  /// As job::WatchdogWaits, whose lines these are.
  void take(const logs::Record& record, int rank) { waits_.take(record, rank); }
  void take_line(const logs::Record& record, int rank) { waits_.take_line(record, rank); }

  /// One dump for each rank, with the oldest call that it waits in for each group that can be identified.
  std::vector<RankDump> finish(const WhereFunction& where, const LogGroups& groups);

  /// Ranks that wait in a call whose group is unknown; available after finish().
  [[nodiscard]] const std::vector<int>& unplaced() const { return unplaced_; }
  [[nodiscard]] const job::WatchdogWaits& waits() const { return waits_; }

 private:
  /// Adds how far the rank had come in the group of its dump signal.
  void add_signal(const job::Wait& signal, const GroupName& group, std::int64_t line,
                  RankDump& dump);
  void add_call(const job::Wait& one, const GroupName& group, std::int64_t line, RankDump& dump);
  [[nodiscard]] static std::optional<GroupName> group_of(const job::Wait& one, int rank,
                                                         std::int64_t sequence,
                                                         const LogGroups& groups);
  /// A rank whose place in its group is not its global rank shows that there are groups other than the default one.
  [[nodiscard]] bool shows_subgroups() const;

  Names& names_;
  job::WatchdogWaits waits_;
  std::vector<int> unplaced_;
};

/// The wait of a rank of which lines show only the place in a group.
GroupWait group_wait(const job::Wait& one);

}  // namespace ringside::hang
