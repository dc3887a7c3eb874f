#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "diag/hangdetect/readers/busy_lines.h"
#include "diag/hangdetect/readers/clock_table.h"
#include "diag/hangdetect/readers/stated_calls.h"
#include "diag/hangdetect/readers/statements.h"
#include "diag/hangdetect/readers/tool_lines.h"
#include "diag/logparse/record.h"

namespace ringside::hang {

/// Reads the program's own lines, which no library rule matches: its progress, the number of ranks, tables of tools,
/// and the peer of a send in a traceback.
///
/// Each such line is compared with many patterns. To save time, the class reads only the first kMostFirst and the last
/// kMostLast of them, over all logs that it gets. Those between count as unread. A job's settings are printed at the
/// beginning, and the reason of a hang at the end.
///
/// Ordering   pass the lines in the order of the log, then call finish() once
/// Ownership  `facts` and `statements` must outlive the object
class ProgramLines {
 public:
  ProgramLines(LogFacts& facts, Statements& statements)
      : facts_(facts), statements_(statements), busy_(statements) {}

  /// Takes a line.  rank  the writer of the line; -1: unknown
  void take(const logs::Record& record, int rank);

  [[nodiscard]] BusyLines& busy() { return busy_; }
  [[nodiscard]] StatedCalls& calls() { return calls_; }

  /// Expects Horovod's list of ranks that did not submit a tensor in the next lines.
  void expect_stalled_ranks();

  /// Adds a statement on the ranks of the newest list. Call it after finish(), once the number of ranks is known.
  void state_stalled();

  /// Expects accelerate's list of each process's tensor shape in the next lines.
  void expect_shapes() { list_ = List::Shapes; }

  /// Expects the frames of a traceback in the next lines.
  void begin_traceback();

  /// Returns whether a source line of the newest traceback runs only on rank 0: `if rank == 0:`.
  [[nodiscard]] bool is_of_rank_zero() const { return is_guarded_; }

  /// Reads the kept end of a long log.
  void finish();

  /// Returns the peer of the send or receive in the newest source line of a traceback, or -1.
  [[nodiscard]] int peer() const { return peer_; }

 private:
  static constexpr std::uint64_t kMostFirst = 10'000;
  static constexpr std::size_t kMostLast = 2'048;
  struct Line {
    std::string text;
    logs::Place place;
    int rank = -1;
  };
  /// The list of ranks, one per line, that is being read.
  enum class List : std::uint8_t { None, Horovod, Shapes };
  void read(const logs::Record& record, int rank);
  bool read_list(const logs::Record& record, int rank);
  bool read_stalled_rank(const logs::Record& record, int rank);
  bool read_shape(const logs::Record& record);
  void read_section(std::string_view line);
  void read_torchrun_settings(std::string_view text);
  void note_last_line(const RankedLine& own, logs::Place place);
  void read_slow(const logs::Record& record);
  bool read_tables(const logs::Record& record);
  void read_claims(std::string_view text);
  void finish_tables();
  void finish_pods();
  void finish_clocks();

  LogFacts& facts_;
  Statements& statements_;
  BusyLines busy_;
  std::uint64_t lines_ = 0;
  std::vector<Line> last_;  ///< ring buffer of the last kMostLast lines
  std::size_t next_ = 0;    ///< index of the oldest line in `last_`
  List list_ = List::None;
  bool is_list_new_ = false;
  std::map<int, Line> stalled_;  ///< Horovod's newest list, by rank
  bool is_guarded_ = false;
  StatedCalls calls_;
  std::vector<std::pair<PsLine, Line>> processes_;  ///< ps
  std::vector<std::pair<int, Line>> pods_;          ///< kubectl: pods by index
  ClockTable clock_table_;
  std::vector<ClockRow> clocks_;            ///< nvidia-smi, dcgmi
  std::vector<Line> clock_lines_;           ///< of `clocks_`
  std::vector<std::pair<int, Line>> gpus_;  ///< nvidia-smi: utilisation in percent
  std::int64_t hosts_ = -1, each_ = -1;  ///< number of hosts and of processes per host; -1: unknown
  int section_rank_ = -1;                ///< rank whose dump entries are being listed; -1: none
  int peer_ = -1;
};

}  // namespace ringside::hang
