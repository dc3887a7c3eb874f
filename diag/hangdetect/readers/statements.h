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

/// The ranks that ringside's engine reports lost: `first`, and those after `..., and so did ranks 5,6`.
std::vector<int> ranks_gone(int first, std::string_view how);

/// Collects statements of lines into facts. Places become files and lines only once everything is read.
///
/// Ownership  the facts must outlive it
class Statements {
 public:
  explicit Statements(LogFacts& facts) : facts_(facts) {}

  /// Adds a statement of a line about these ranks. Impossible ranks are skipped; at most 4,096 statements are kept,
  /// with 4 M ranks in all of them together: `0-1048575` is short.
  void state(const logs::Record& record, LogStatement::What what, std::vector<int> ranks,
             std::int64_t code = 0, std::string detail = {});

  /// Like state(), for the rank that wrote the line; an empty set if it is unknown.
  void state_of(const logs::Record& record, LogStatement::What what, int rank,
                std::int64_t code = 0, std::string detail = {});

  /// Notes a line of the program's own about its progress. rank  that wrote the line; -1: unknown
  void note_run(const logs::Record& record, const RunLine& line, int rank);

  /// Notes a line of the rank's own program, as long as lines are read in their order.
  void note_line(const logs::Record& record, int rank);

  /// Raises the known number of ranks to `ranks`, which a line states.
  void know_world(std::int64_t ranks);

  /// Notes of the rank; discarded if it is -1.
  RankNotes& note(int rank) { return rank >= 0 ? facts_.notes[rank] : discarded_; }

  /// Turns places into files and lines. Call once.
  void finish(const WhereFunction& where);

  static constexpr std::size_t kShown = 400;  ///< characters of a line, in a statement
  static constexpr std::size_t kMost = 4096;
  static constexpr std::size_t kMostRanksKept = std::size_t{1} << 22;

 private:
  LogFacts& facts_;
  std::size_t ranks_kept_ = 0;
  std::vector<logs::Place> places_;
  std::vector<logs::Place> shown_places_;
  std::map<std::uint32_t, std::uint64_t> alarms_of_;  ///< by piece: not yet over
  std::map<int, logs::Place> line_places_;            ///< of each rank's last line
  RankNotes discarded_;
};

/// An exception that ended a program: its own, or from a failed call of the library. rank  -1: unknown
void state_error(const logs::Record& record, std::string_view type, std::string_view text, int rank,
                 Statements& statements);

}  // namespace ringside::hang
