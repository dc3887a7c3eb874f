#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "diag/hangdetect/readers/last_lines.h"

namespace ringside::hang {

/// Where a statement comes from.
struct Evidence {
  std::string file;
  std::int64_t record = -1;  ///< record_id in a dump
  std::int64_t line = -1;    ///< in a log
  std::string text;
};

/// The progress of the program, by its own lines.
struct RunNotes {
  std::uint64_t steps = 0;      ///< lines that report a finished step
  std::int64_t last_step = -1;  ///< the newest step that a line reports
  std::int64_t steps_of = -1;   ///< steps in all, where the line says it
  std::set<int> at_last_step;   ///< ranks that report that step
  std::set<int> ranks;          ///< ranks that report any step
  std::map<int, std::int64_t>
      step_of;              ///< the last step of each rank; -1: its lines have no numbers
  bool has_logged = false;  ///< a line reports a step without its number
  bool has_moved = false;   ///< one rank, or lines without a rank, report a step and a later one
  std::int64_t last_step_us =
      0;  ///< wall time of the last line of a step that has one; 0: none has
  std::int64_t longest_step_us = 0;  ///< between two such lines
  bool have_calls_ended = false;     ///< the program prints its calls, and all of them have ended
  bool has_finished =
      false;               ///< a line reports the end or a server's start, and none a step after it
  bool has_ended = false;  ///< the same, of the end alone
  std::uint64_t finished = 0;      ///< lines that report it
  std::uint64_t harmless = 0;      ///< warnings that jobs which run well give too
  std::uint64_t server_waits = 0;  ///< a server's engine waits for its workers: once is harmless
  std::uint64_t waits =
      0;  ///< lines with a watchdog's words of a time-out, whether they were read or not
  std::uint64_t alarming_since_step =
      0;  ///< of the alarming lines, those after the last step, without questions
  std::uint64_t slow_starts =
      0;                     ///< lines that report compilation, throttled clocks, a slow first step
  std::uint64_t claims = 0;  ///< lines in which a person states that the job hangs
  std::int64_t shortest_step_us = 0;        ///< between two such lines; 0: not known
  std::uint64_t steps_after_pause = 0;      ///< after the longest of these pauses
  std::map<int, LastLine> last_lines = {};  ///< by rank
  std::uint64_t alarming = 0;   ///< lines with words of an error or a wait that no rule here reads
  std::uint64_t questions = 0;  ///< of the alarming lines, those that only ask
  std::vector<Evidence> shown;  ///< the first line of each sort
};

/// A call that a rank timed out in; lines show only the rank's place in the group, not the global rank.
struct GroupWait {
  std::string group;  ///< `TENSOR_MODEL_PARALLEL_GROUP (17)`
  int place = -1;     ///< its rank in that group
  std::string call;   ///< `all_gather 11872`
};

}  // namespace ringside::hang
