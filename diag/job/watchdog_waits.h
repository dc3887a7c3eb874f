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

/// The call in which a rank waits, from lines of PyTorch's watchdog.
struct Wait {
  std::int64_t sequence = -1;  ///< sequence number of the call in its group; -1: unknown
  std::string operation;       ///< `ALLREDUCE`; empty: unknown
  std::string shape;           ///< `1024, 8`, in releases that do not print the number of elements
  std::int64_t numel_in = -1;
  std::int64_t numel_out = -1;
  std::int64_t timeout_ms = -1;
  std::int64_t ran_ms = -1;  ///< run time of the call when the watchdog checked it; -1: unknown
  /// A line reports this call's time-out; false: only a status line is known
  bool has_timed_out = false;
  /// Last enqueued call of the group; -1: none; nothing: unknown
  std::optional<std::int64_t> enqueued;
  std::optional<std::int64_t> completed;  ///< last completed call, likewise
  std::string group;                      ///< GUID; empty: unknown
  std::string description;
  int group_number = -1;  ///< number in that process, not comparable between ranks; -1: unknown
  int group_rank = -1;
  logs::Place place;        ///< first line that shows the wait
  bool has_status = false;  ///< a status line was read

  /// Returns whether the group is identified.
  [[nodiscard]] bool has_group() const { return !group.empty() || group_number >= 0; }
  /// Returns whether all enqueued calls have completed and no line reports a time-out, so that the rank does not wait.
  [[nodiscard]] bool is_idle() const;
};

/// Collects the waits of all ranks from the lines of PyTorch's watchdog.
///
/// A time-out line names the call and the rank; the status line after it identifies the group: since 2.5 by name, in
/// 2.4 by description and group rank, in 2.2 and 2.3 by its number in the process, in earlier versions not at all. The
/// exception that ends the process repeats both lines.
///
/// source  docs/formats 5.2
class WatchdogWaits {
 public:
  /// Takes a message WatchdogTimeout, WatchdogStatus or DumpSignal.
  /// rank  global rank in the line's prefix; -1: none, then the rank in the text is used if there is one
  void take(const logs::Record& record, int rank);

  /// Takes another line with `WorkNCCL(...) ran for`: an exception's text, a torn or a merged line.
  void take_line(const logs::Record& record, int rank);

  /// Completes the waits; call it once, after the last line, and read the waits only afterwards.
  /// - Lines with only a group rank are assigned to the global rank that another line gives for it.
  /// - Fields that torn lines lost are copied from other ranks of the group.
  /// - The wait of a process that was stopped (SIGSTOP) and runs again is corrected: it has not timed out, and its place
  ///   is after its last enqueued call.
  void complete();

  /// Returns the waits of ranks of which only `group` and `group_rank` are known.  shape  after complete()
  [[nodiscard]] const std::vector<Wait>& of_places() const { return of_places_; }

  /// Returns the waits by global rank, in the order of the lines.
  [[nodiscard]] const std::map<int, std::vector<Wait>>& by_rank() const { return waits_; }
  /// Returns the last enqueued and completed calls of ranks that were signalled to dump; `sequence` is unset.
  [[nodiscard]] const std::map<int, Wait>& signals() const { return signals_; }
  /// Returns the number of time-out lines.
  [[nodiscard]] std::int64_t timeouts() const { return timeouts_; }
  /// Returns the least number of ranks of the job: the size of the default group, computed from a call's sizes (output
  /// over input of an all-gather), or of a list `[Rank 0-7]`; 0 if unknown.
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

  using Place = std::pair<std::string, int>;  ///< a group's key (group_key()) and a group rank
  std::map<int, std::vector<Wait>> waits_;
  std::map<Place, std::vector<Wait>> at_place_;  ///< waits whose global rank is not known yet
  std::map<Place, int> rank_at_;                 ///< -1: several ranks
  std::vector<Wait> of_places_;
  std::map<int, Wait> signals_;
  std::int64_t timeouts_ = 0;
  int world_ = 0;
};

}  // namespace ringside::job
