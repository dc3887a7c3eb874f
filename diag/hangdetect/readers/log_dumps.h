#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "diag/hangdetect/readers/call.h"
#include "diag/hangdetect/readers/names.h"
#include "diag/logparse/record.h"

namespace ringside::hang {

/// File and line of a place in the logs.
using WhereFunction = std::function<std::pair<std::string, std::int64_t>(logs::Place)>;

/// Makes of PyTorch's watchdog lines what a dump would have said: the call that a rank stands at, and how
/// far it had enqueued.
///
/// A timeout line says which call of which rank, the status line after it says in which group; before
/// 2.2 there is no group, and the default one is meant.
class LogDumps {
 public:
  explicit LogDumps(Names& names) : names_(names) {}

  /// A message WatchdogTimeout, WatchdogStatus, WatchdogException or DumpSignal; `rank` is the global
  /// one, -1 where the line does not say.
  void take(const logs::Record& record, int rank);

  /// Any other line that holds a `WorkNCCL(...) ran for`: an exception's text, a torn or glued line.
  void take_line(const logs::Record& record, int rank);

  /// One dump a rank, of the oldest call that it waits in, in each group.
  std::vector<RankDump> finish(const WhereFunction& where);

  [[nodiscard]] std::int64_t timeouts() const { return timeouts_; }

 private:
  struct Waiting {
    std::int64_t sequence = -1;
    std::int64_t enqueued = -1;
    std::string operation;
    std::int64_t numel_in = -1;
    std::int64_t numel_out = -1;
    std::int64_t timeout_ms = 0;
    std::string group;  ///< empty until a status line says it
    std::string description;
    logs::Place place;
  };
  void take_timeout(const logs::Record& record, int rank);
  void add_timeout(std::string_view text, logs::Place place, int rank);
  void take_status(const logs::Record& record, int rank);
  void adopt(Waiting& one) const;

  Names& names_;
  std::map<int, std::vector<Waiting>> waiting_;  ///< by global rank
  std::int64_t timeouts_ = 0;
};

}  // namespace ringside::hang
