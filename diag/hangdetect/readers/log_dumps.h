#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "diag/hangdetect/readers/call.h"
#include "diag/hangdetect/readers/log_groups.h"
#include "diag/hangdetect/readers/names.h"
#include "diag/logparse/record.h"

namespace ringside::hang {

/// File and line of a place in the logs.
using WhereFunction = std::function<std::pair<std::string, std::int64_t>(logs::Place)>;

/// Makes of PyTorch's watchdog lines what a dump would have said: the call that a rank stands at, and how
/// far it had enqueued.
///
/// A timeout line says which call of which rank, the status line after it says in which group: by name
/// since 2.5, by description and place in 2.4, by a count of that process in 2.2 and 2.3, before not at all.
class LogDumps {
 public:
  explicit LogDumps(Names& names) : names_(names) {}

  /// A message WatchdogTimeout, WatchdogStatus, WatchdogException or DumpSignal; `rank` is the global
  /// one, -1 where the line does not say.
  void take(const logs::Record& record, int rank);

  /// Any other line that holds a `WorkNCCL(...) ran for`: an exception's text, a torn or glued line.
  void take_line(const logs::Record& record, int rank);

  /// One dump a rank, of the oldest call that it waits in, in each group that can be told.
  std::vector<RankDump> finish(const WhereFunction& where, const LogGroups& groups);

  /// Ranks that wait in a call whose group nothing tells; known after finish().
  [[nodiscard]] const std::vector<int>& unplaced() const { return unplaced_; }
  [[nodiscard]] std::int64_t timeouts() const { return timeouts_; }
  /// Ranks of the largest group that the sizes of a call tell: what comes out of an all-gather over what goes in.
  [[nodiscard]] int world() const { return world_; }

 private:
  struct Waiting {
    std::int64_t sequence = -1;
    std::int64_t enqueued = -1;
    std::int64_t completed = -1;
    bool has_timed_out =
        false;  ///< a line says so of this very call; else only a status tells of it
    std::string operation;
    std::int64_t numel_in = -1;
    std::int64_t numel_out = -1;
    std::int64_t timeout_ms = 0;
    std::string group;  ///< empty until a status line says it
    std::string description;
    int group_number = -1;  ///< in that process
    int group_rank = -1;
    logs::Place place;
    [[nodiscard]] bool has_group() const { return !group.empty() || group_number >= 0; }
  };
  /// How far a process had come when it was told to dump.
  struct Signal {
    std::int64_t enqueued = -1;
    std::int64_t completed = -1;
    Waiting group;  ///< as far as it names one
  };
  void take_timeout(const logs::Record& record, int rank);
  void take_signal(const logs::Record& record, int rank);
  /// Adds where the rank stands in the group of its dump signal.
  void add_signal(const Signal& signal, const GroupName& group, std::int64_t line, RankDump& dump);
  void add_timeout(std::string_view text, const logs::Record& record, int rank);
  void add_call(const Waiting& one, const GroupName& group, std::int64_t line, RankDump& dump);
  void take_status(const logs::Record& record, int rank);
  void adopt(Waiting& one) const;
  [[nodiscard]] std::optional<GroupName> group_of(const Waiting& one, int rank,
                                                  const LogGroups& groups) const;

  Names& names_;
  std::map<int, std::vector<Waiting>> waiting_;  ///< by global rank
  std::map<int, Signal> signals_;
  std::vector<int> unplaced_;
  std::int64_t timeouts_ = 0;
  int world_ = 0;
};

}  // namespace ringside::hang
