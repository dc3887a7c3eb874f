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

/// How the program fares by its own words.
struct RunNotes {
  std::uint64_t steps = 0;              ///< lines that tell of a step done
  std::int64_t last_step = -1;          ///< the newest step that a line tells of
  std::int64_t steps_of = -1;           ///< steps in all, where the line says it
  std::set<int> at_last_step;           ///< ranks that tell of that step
  std::set<int> ranks;                  ///< ranks that tell of any step
  std::map<int, std::int64_t> step_of;  ///< the last step of each rank; -1: of lines that name none
  bool has_logged = false;              ///< a line tells of a step and does not count it
  bool has_moved = false;  ///< one rank, or lines without any, tell of a step and of a later one
  std::int64_t last_step_us =
      0;  ///< wall time of the last line of a step that has one; 0: none has
  std::int64_t longest_step_us = 0;  ///< between two such lines
  bool have_calls_ended = false;     ///< the program prints its calls, and all of them have ended
  bool has_finished = false;         ///< an end or a server's start is told, and no step after it
  bool has_ended = false;            ///< the same of an end alone
  std::uint64_t finished = 0;        ///< lines that tell of it
  std::uint64_t harmless = 0;        ///< warnings that jobs which run well give too
  std::uint64_t server_waits = 0;    ///< a server's engine waits for its workers: once is harmless
  std::uint64_t waits =
      0;  ///< lines with a watchdog's words of a time-out, whether they were read or not
  std::uint64_t alarming_since_step =
      0;  ///< of the lines below, those after the last step, but for questions
  std::uint64_t slow_starts =
      0;  ///< lines that tell of compilation, of throttled clocks, of a first slow step
  std::uint64_t claims = 0;                 ///< somebody says that it hangs or is stuck
  std::int64_t shortest_step_us = 0;        ///< between two such lines; 0: not known
  std::uint64_t steps_after_pause = 0;      ///< after the longest of these pauses
  std::map<int, LastLine> last_lines = {};  ///< by rank
  std::uint64_t alarming = 0;   ///< lines with words of an error or a wait that no rule here reads
  std::uint64_t questions = 0;  ///< of these, those that ask, and state nothing
  std::vector<Evidence> shown;  ///< the first of each
};

/// A call that a rank timed out in of which lines tell only its place in a group.
struct GroupWait {
  std::string group;  ///< `TENSOR_MODEL_PARALLEL_GROUP (17)`
  int place = -1;     ///< its rank in that group
  std::string call;   ///< `all_gather 11872`
};

}  // namespace ringside::hang
