#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "diag/hangdetect/readers/last_lines.h"

namespace ringside::hang {

/// The source of a statement.
struct Evidence {
  std::string file;
  std::int64_t record = -1;  ///< record_id in a dump; -1: not a dump
  std::int64_t line = -1;    ///< line in a log, from 1; -1: not a log
  std::string text;
};

/// The progress of the program, by the lines that it logs.
struct RunNotes {
  std::uint64_t steps = 0;              ///< lines that report a finished step
  std::int64_t last_step = -1;          ///< highest of the last steps in `step_of`; -1: none
  std::int64_t steps_of = -1;           ///< total number of steps; -1: unknown
  std::set<int> at_last_step;           ///< ranks whose last step is `last_step`
  std::set<int> ranks;                  ///< ranks that report any step
  std::map<int, std::int64_t> step_of;  ///< last step by rank; -1: its lines have no step number
  bool has_logged = false;              ///< a line reports a step without its number
  bool has_moved = false;  ///< one rank, or lines without a rank, report a step and a later one
  std::int64_t last_step_us = 0;     ///< wall time of the last step line with a time; 0: none
  std::int64_t longest_step_us = 0;  ///< longest time between two step lines
  bool have_calls_ended = false;     ///< the program prints its calls, and all of them have ended
  bool has_finished = false;   ///< a line reports the end or a server's start, and no step follows
  bool has_ended = false;      ///< a line reports the end, and no step follows
  std::uint64_t finished = 0;  ///< lines that report the end or a server's start
  std::uint64_t harmless = 0;  ///< warnings that healthy jobs print too
  std::uint64_t server_waits =
      0;  ///< lines in which a server's engine waits for its workers; one is harmless
  std::uint64_t waits = 0;                ///< lines with a watchdog's wording of a time-out
  std::uint64_t alarming_since_step = 0;  ///< alarming lines after the last step, without questions
  std::uint64_t slow_starts =
      0;                     ///< lines that report compilation, throttled clocks, a slow first step
  std::uint64_t claims = 0;  ///< lines in which a person states that the job hangs
  std::int64_t shortest_step_us = 0;        ///< shortest time between two step lines; 0: unknown
  std::uint64_t steps_after_pause = 0;      ///< steps after the longest time between two step lines
  std::map<int, LastLine> last_lines = {};  ///< by rank
  std::uint64_t alarming = 0;   ///< lines that mention an error or a wait and that no rule reads
  std::uint64_t questions = 0;  ///< alarming lines that are questions
  std::vector<Evidence> shown;  ///< the first line of each type
};

/// A call in which a rank timed out, for a rank of which only the group rank is known.
struct GroupWait {
  std::string group;  ///< `TENSOR_MODEL_PARALLEL_GROUP (17)`
  int place = -1;     ///< group rank
  std::string call;   ///< `all_gather 11872`
};

}  // namespace ringside::hang
