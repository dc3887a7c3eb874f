#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "diag/hangdetect/readers/statements.h"
#include "diag/logparse/record.h"

namespace ringside::hang {

/// Tracks which ranks have begun to create or to end a communicator, and whether any rank has finished doing so.
/// Creation finishes on no rank before all ranks take part; the end needs all ranks of its host.
class CommStarts {
 public:
  /// Takes a record of RecordKind::CommEvent that names a rank and a size. Communicators of more than 65,536 ranks, and
  /// those after the first 4,096, are ignored, as each rank takes memory.
  /// host  host of the process that wrote it
  void take(const logs::Record& record, const std::string& host);

  /// Adds two types of statements: ranks that have not begun to create a communicator which most ranks have begun and
  /// none has finished; and ranks that have not begun to destroy one while others of their host wait in its end.
  void state(Statements& said) const;

 private:
  /// ncclCommFinalize or ncclCommDestroy on one host: the ranks in it, and whether any rank returned or aborted.
  struct Stage {
    std::set<int> begun;
    bool is_through = false;
  };
  struct End {
    std::set<int> known;  ///< ranks of the host with log lines
    Stage finalize, destroy;
    logs::Place place;  ///< place of the last line that begins a stage
    std::string line;
  };
  static void take_end(const logs::Record& record, End& end);
  static void state_end(const End& end, Statements& said);

  struct Start {
    int nranks = 0;
    std::set<int> begun;
    bool is_through = false;  ///< at least one rank has finished
    logs::Place place;        ///< place of the last line
    std::string line;
    std::map<std::string, End> ends;  ///< by host
  };

  std::map<std::uint64_t, Start> starts_;  ///< by the id that all ranks share
};

}  // namespace ringside::hang
