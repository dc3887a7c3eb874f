#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "diag/hangdetect/readers/statements.h"
#include "diag/logparse/record.h"

namespace ringside::hang {

/// Who has begun to make a communicator, and who to end it, and whether anybody came through: nobody does without all, at
/// the end without all of its host.
class CommStarts {
 public:
  /// A record of RecordKind::CommEvent that names a rank and a size.
  /// host  of the process that writes it
  void take(const logs::Record& record, const std::string& host);

  /// Who has not begun it, of each communicator that most have begun and nobody has made; who has not begun to end it
  /// where others of the host have and do not come through.
  void state(Statements& said) const;

 private:
  /// ncclCommFinalize or ncclCommDestroy on one host: who is in it, and whether anybody came out, or aborted.
  struct Stage {
    std::set<int> begun;
    bool is_through = false;
  };
  struct End {
    std::set<int> known;  ///< ranks of the host that log
    Stage finalize, destroy;
    logs::Place place;  ///< of the last line that begins a stage
    std::string line;
  };
  static void take_end(const logs::Record& record, End& end);
  static void state_end(const End& end, Statements& said);

  struct Start {
    int nranks = 0;
    std::set<int> begun;
    bool is_through = false;  ///< for one at least
    logs::Place place;        ///< of the last line
    std::string line;
    std::map<std::string, End> ends;  ///< by host
  };

  std::map<std::uint64_t, Start> starts_;  ///< by the id that all ranks share
};

}  // namespace ringside::hang
