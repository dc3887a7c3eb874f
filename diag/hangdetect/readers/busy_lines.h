#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>

#include "diag/hangdetect/readers/statements.h"
#include "diag/job/occupation.h"
#include "diag/logparse/record.h"

namespace ringside::hang {

/// Finds ranks that did other work while the rest timed out: an unfinished checkpoint, an unfinished progress bar, a
/// stack frame in file I/O. Also finds ranks that closed their process group before the time-out.
///
/// Ordering   pass the lines of each log in order, then call finish() once. Lines are compared within a file, even if
///            the file was read in pieces
/// Ownership  `statements` must outlive the object
class BusyLines {
 public:
  explicit BusyLines(Statements& statements) : statements_(statements) {}

  /// Takes a line that reports a time-out. Later lines of the program belong to its shutdown.
  void take_timeout(const logs::Record& record);

  /// Takes any other line.
  /// rank     the writer of the line; -1: unknown
  /// returns  whether the line shows work other than communication
  bool take(const logs::Record& record, int rank);

  /// Takes a line that reports a finished step. A checkpoint that began before it has ended.
  void take_step(const logs::Record& record);

  /// Takes a line that reports that the rank closed its process group.
  void take_end(const logs::Record& record, int rank);

  /// Adds the found work to the statements.
  void finish(const WhereFunction& where);

 private:
  using What = job::Occupation::What;
  struct Event {
    enum class Is : std::uint8_t { Occupation, Step, End };
    Is is = Is::Occupation;
    What what = What::None;
    int rank = -1;
    logs::Place place;
    std::string text;
    std::string words;
  };
  void add(Event event);
  void state(const Event& event, LogStatement::What what);
  void finish_file(const std::vector<std::pair<std::int64_t, const Event*>>& events,
                   std::int64_t first_timeout);

  Statements& statements_;
  std::map<std::uint32_t, std::uint32_t>
      timeouts_;  ///< by piece of a log: the first line with a time-out
  std::deque<Event> events_;
};

}  // namespace ringside::hang
