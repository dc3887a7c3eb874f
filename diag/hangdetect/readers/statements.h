#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "diag/hangdetect/readers/log_dumps.h"
#include "diag/hangdetect/readers/log_facts.h"
#include "diag/hangdetect/readers/run_lines.h"
#include "diag/logparse/record.h"

namespace ringside::hang {

/// Returns the ranks that ringside's engine reports as lost: `first`, and the ranks in `how` after `..., and so did
/// ranks 5,6`.
std::vector<int> ranks_gone(int first, std::string_view how);

/// Collects statements of log lines, and the program's progress, into LogFacts. finish() converts places to files and
/// lines.
///
/// Ownership  `facts` must outlive the object
class Statements {
 public:
  explicit Statements(LogFacts& facts) : facts_(facts) {}

  /// Adds a statement of a line about these ranks. Impossible ranks are skipped. At most kMost statements with
  /// kMostRanksKept ranks in total are kept, because a short line can name a million ranks: `0-1048575`.
  void state(const logs::Record& record, LogStatement::What what, std::vector<int> ranks,
             std::int64_t code = 0, std::string detail = {});

  /// Adds a statement like state() about the rank that wrote the line, or about no rank if `rank` is -1.
  void state_of(const logs::Record& record, LogStatement::What what, int rank,
                std::int64_t code = 0, std::string detail = {});

  /// Notes a progress line of the program.  rank  the writer of the line; -1: unknown
  void note_run(const logs::Record& record, const RunLine& line, int rank);

  /// Notes a line of the rank's program as its last one. Call it in the order of the lines.
  void note_line(const logs::Record& record, int rank);

  /// Raises the known number of ranks to `ranks`, which a line states.
  void know_world(std::int64_t ranks);

  /// Returns the rank's notes to fill; for rank -1 an object that is discarded.
  RankNotes& note(int rank) { return rank >= 0 ? facts_.notes[rank] : discarded_; }

  /// Turns places into files and lines, and completes RunNotes. Call once, after the last line.
  void finish(const WhereFunction& where);

  static constexpr std::size_t kShown = 400;  ///< characters of a line, in a statement
  static constexpr std::size_t kMost = 4096;  ///< statements: above the culprits of any real job
  static constexpr std::size_t kMostRanksKept = std::size_t{1} << 22;  ///< 16 MiB of numbers

 private:
  LogFacts& facts_;
  std::size_t ranks_kept_ = 0;
  std::vector<logs::Place> places_;
  std::vector<logs::Place> shown_places_;
  /// Alarming lines of one piece, without questions, that no later line of the piece reports as over.
  struct Alarms {
    std::uint64_t all = 0;
    std::uint64_t since_step = 0;  ///< those after the last step, if `steps` is RunNotes::steps
    std::uint64_t steps = 0;       ///< RunNotes::steps when `since_step` was counted
  };

  std::map<std::uint32_t, Alarms> alarms_of_;  ///< by piece
  std::map<int, logs::Place> line_places_;     ///< of each rank's last line
  RankNotes discarded_;
};

/// Adds a statement on an exception that ended a program: its own error, or a failed library call.
/// rank  the rank of the program; -1: unknown
void state_error(const logs::Record& record, std::string_view type, std::string_view text, int rank,
                 Statements& statements);

}  // namespace ringside::hang
