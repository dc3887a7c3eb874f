#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>

#include "diag/hangdetect/readers/statements.h"
#include "diag/job/occupation.h"
#include "diag/logparse/record.h"

namespace ringside::hang {

/// Finds work that programs log while other ranks time out: a checkpoint that was begun and not ended, a progress bar
/// before its end, a stack frame in file I/O; also ranks that closed their process group earlier.
///
/// Ordering   lines come in the order of each log, then finish(), once. Order is judged within a file, however it was
///            cut into pieces
/// Ownership  the statements must outlive it
class BusyLines {
 public:
  explicit BusyLines(Statements& statements) : statements_(statements) {}

  /// A rank timed out: the program's later lines belong to its shutdown.
  void take_timeout(const logs::Record& record);

  /// rank     that wrote the line; -1: unknown
  /// returns  whether the line shows such work
  bool take(const logs::Record& record, int rank);

  /// A step is done: a checkpoint that began before it has ended.
  void take_step(const logs::Record& record);

  /// The rank closed its process group.
  void take_end(const logs::Record& record, int rank);

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
  std::map<std::uint32_t, std::uint32_t> timeouts_;  ///< by piece of a log: its first such line
  std::deque<Event> events_;
};

}  // namespace ringside::hang
