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

/// What a rank waits in, as far as the lines of PyTorch's watchdog tell.
struct Wait {
  std::int64_t sequence = -1;  ///< of the call in its group
  std::string operation;       ///< `ALLREDUCE`; empty: not said
  std::string shape;           ///< `1024, 8` of the releases that print no number of elements
  std::int64_t numel_in = -1;
  std::int64_t numel_out = -1;
  std::int64_t timeout_ms = -1;
  std::int64_t ran_ms = -1;    ///< how long the call had run when the watchdog looked at it
  bool has_timed_out = false;  ///< a line says so of this very call; else only a status tells of it
  std::optional<std::int64_t> enqueued;   ///< of its group on this rank; -1: none
  std::optional<std::int64_t> completed;  ///< likewise
  std::string group;                      ///< GUID; empty: not said
  std::string description;
  int group_number = -1;  ///< in that process: do not compare between ranks
  int group_rank = -1;
  logs::Place place;        ///< of the line that told first
  bool has_status = false;  ///< a line says what was enqueued

  [[nodiscard]] bool has_group() const { return !group.empty() || group_number >= 0; }
  /// Completed as far as enqueued, and nothing says that a call timed out: nothing waits.
  [[nodiscard]] bool is_idle() const;
};

/// Who waits for what, of all ranks that a watchdog speaks for.
///
/// A time-out line says which call of which rank, the status line after it says in which group: by name since 2.5, by
/// description and place in 2.4, by a count of that process in 2.2 and 2.3, before not at all. The exception that ends
/// the process repeats both.
///
/// source  docs/formats 5.2
class WatchdogWaits {
 public:
  /// A message WatchdogTimeout, WatchdogStatus or DumpSignal. `rank` is the global one, -1 where the line's prefix does
  /// not say; the text of a work then may.
  void take(const logs::Record& record, int rank);

  /// Any other line that holds a `WorkNCCL(...) ran for`: an exception's text, a torn or glued line.
  void take_line(const logs::Record& record, int rank);

  /// A torn line can lose the work and leave its status: the others of the group say what it was. Lines that have a
  /// rank's place in a sub-group alone go to the rank that another line puts there.
  void complete();

  /// Of ranks whose place in a sub-group is all that is told of them: `group` and `group_rank` are theirs.
  [[nodiscard]] const std::vector<Wait>& of_places() const { return of_places_; }

  /// By global rank, in the order of the lines.
  [[nodiscard]] const std::map<int, std::vector<Wait>>& by_rank() const { return waits_; }
  /// How far ranks had come that were told to dump: `sequence` is not said.
  [[nodiscard]] const std::map<int, Wait>& signals() const { return signals_; }
  [[nodiscard]] std::int64_t timeouts() const { return timeouts_; }
  /// Ranks of the largest group that the sizes of a call tell: what comes out of an all-gather over what goes in.
  /// 0: no call tells
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
  std::map<Place, std::vector<Wait>> at_place_;  ///< until another line says whose place it is
  std::map<Place, int> rank_at_;                 ///< -1: of several
  std::vector<Wait> of_places_;
  std::map<int, Wait> signals_;
  std::int64_t timeouts_ = 0;
  int world_ = 0;
};

}  // namespace ringside::job
