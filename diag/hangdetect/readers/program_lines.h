#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "diag/hangdetect/readers/busy_lines.h"
#include "diag/hangdetect/readers/stated_calls.h"
#include "diag/hangdetect/readers/statements.h"
#include "diag/hangdetect/readers/tool_lines.h"
#include "diag/logparse/record.h"

namespace ringside::hang {

/// Reads lines that no rule of a library reads: the program's own lines, which show its progress, the number of
/// ranks, and in a traceback the peer of a send.
///
/// It reads the beginning and the end of a long log; reading all of it would take longer than everything else. Lines
/// between them count as not understood.
///
/// Ordering   lines come in the order of the log, then finish(), once
/// Ownership  facts and statements must outlive it
class ProgramLines {
 public:
  ProgramLines(LogFacts& facts, Statements& statements)
      : facts_(facts), statements_(statements), busy_(statements) {}

  /// rank  that wrote the line; -1: unknown
  void take(const logs::Record& record, int rank);

  [[nodiscard]] BusyLines& busy() { return busy_; }
  [[nodiscard]] StatedCalls& calls() { return calls_; }

  /// Horovod's list of ranks that did not submit a tensor begins.
  void expect_stalled_ranks();

  /// States the ranks of the newest list. Call after finish(), once the number of ranks is known.
  void state_stalled();

  /// accelerate's list of each process's shape begins.
  void expect_shapes() { list_ = List::Shapes; }

  /// The frames of a traceback begin.
  void begin_traceback();

  /// Whether a source line of the newest traceback runs on rank 0 alone: `if rank == 0:`.
  [[nodiscard]] bool is_of_rank_zero() const { return is_guarded_; }

  /// Reads the kept end of a long log.
  void finish();

  /// The peer of the send or receive in the newest source line of a traceback; -1: none
  [[nodiscard]] int peer() const { return peer_; }

 private:
  static constexpr std::uint64_t kMostFirst = 10'000;
  static constexpr std::size_t kMostLast = 2'048;
  struct Line {
    std::string text;
    logs::Place place;
    int rank = -1;
  };
  /// Lists of ranks over several lines.
  enum class List : std::uint8_t { None, Horovod, Shapes };
  void read(const logs::Record& record, int rank);
  bool read_list(const logs::Record& record, int rank);
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
  std::vector<Line> last_;  ///< in a ring
  std::size_t next_ = 0;    ///< where its oldest one is
  List list_ = List::None;
  bool is_list_new_ = false;
  std::map<int, Line> stalled_;  ///< Horovod's newest list, by rank
  bool is_guarded_ = false;
  StatedCalls calls_;
  std::vector<std::pair<PsLine, Line>> processes_;  ///< ps
  std::vector<std::pair<int, Line>> pods_;          ///< kubectl: their index
  ClockTable clock_table_;
  std::vector<std::pair<ClockRow, Line>> clocks_;  ///< nvidia-smi, dcgmi
  std::vector<std::pair<int, Line>> gpus_;         ///< nvidia-smi: their utilisation
  std::int64_t hosts_ = -1, each_ = -1;            ///< that the job has, and processes of each
  int section_rank_ = -1;                          ///< whose entries of a dump are listed
  int peer_ = -1;
};

}  // namespace ringside::hang
