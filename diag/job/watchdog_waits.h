#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "diag/logparse/record.h"

namespace ringside::job {

/// The call that a rank waits in, by the lines of PyTorch's watchdog.
struct Wait {
  std::int64_t sequence = -1;  ///< of the call in its group
  std::string operation;       ///< `ALLREDUCE`; empty: unknown
  std::string shape;           ///< `1024, 8` of the releases that print no number of elements
  std::int64_t numel_in = -1;
  std::int64_t numel_out = -1;
  std::int64_t timeout_ms = -1;
  std::int64_t ran_ms = -1;  ///< how long the call had run when the watchdog looked at it
  bool has_timed_out =
      false;  ///< a line reports it for this very call; else only a status line does
  std::optional<std::int64_t> enqueued;   ///< of its group on this rank; -1: none
  std::optional<std::int64_t> completed;  ///< likewise
  std::string group;                      ///< GUID; empty: unknown
  std::string description;
  int group_number = -1;  ///< in that process: do not compare between ranks
  int group_rank = -1;
  logs::Place place;        ///< of the first line that shows it
  bool has_status = false;  ///< a line shows what was enqueued

  [[nodiscard]] bool has_group() const { return !group.empty() || group_number >= 0; }
  /// All enqueued calls have completed, and no line reports a time-out: the rank does not wait.
  [[nodiscard]] bool is_idle() const;
};

/// The waits of all ranks that a watchdog reports on.
///
/// A time-out line names the call and the rank, the status line after it the group: by name since 2.5, by description
/// and place in 2.4, by a number of that process in 2.2 and 2.3, before that not at all. The exception that ends the
/// process repeats both.
///
/// source  docs/formats 5.2
class WatchdogWaits {
 public:
  /// Takes a message WatchdogTimeout, WatchdogStatus or DumpSignal. `rank` is the global one, -1 if the line's prefix
  /// does not have it; the text of a work then may.
  void take(const logs::Record& record, int rank);

  /// Takes any other line with a `WorkNCCL(...) ran for`: an exception's text, a torn or glued line.
  void take_line(const logs::Record& record, int rank);

  /// Completes torn lines, which can lose the work and keep its status, from other ranks of the group. Lines with
  /// only a rank's place in a sub-group are assigned to the rank that another line has at that place.
  void complete();

  /// Waits of ranks of which only the place in a sub-group is known: `group` and `group_rank`.
  [[nodiscard]] const std::vector<Wait>& of_places() const { return of_places_; }

  /// By global rank, in the order of the lines.
  [[nodiscard]] const std::map<int, std::vector<Wait>>& by_rank() const { return waits_; }
  /// How far ranks had come that were signalled to dump: `sequence` is unset.
  [[nodiscard]] const std::map<int, Wait>& signals() const { return signals_; }
  [[nodiscard]] std::int64_t timeouts() const { return timeouts_; }
  /// The size of the largest group, by the sizes of a call: output of an all-gather over its input. 0: unknown
  [[nodiscard]] int world() const { return world_; }

 private:
  void take_of(const logs::Record& record, std::vector<Wait>& all);
  /// ran_ms  -1: not known
  void take_timeout(std::string_view work, std::int64_t ran_ms, const logs::Record& record,
                    std::vector<Wait>& all);
  static void take_status(const logs::Record& record, std::vector<Wait>& all);
  void take_signal(const logs::Record& record, int rank);
  void adopt(Wait& one) const;
  static void correct_frozen(Wait& one);
  void place();

  using Place =
      std::pair<std::string, int>;  ///< a group as group_key() names it, and a place in it
  std::map<int, std::vector<Wait>> waits_;
  std::map<Place, std::vector<Wait>> at_place_;  ///< until another line shows whose place it is
  std::map<Place, int> rank_at_;                 ///< -1: of several
  std::vector<Wait> of_places_;
  std::map<int, Wait> signals_;
  std::int64_t timeouts_ = 0;
  int world_ = 0;
};

}  // namespace ringside::job
