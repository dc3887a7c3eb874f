#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "diag/hangdetect/readers/statements.h"
#include "diag/logparse/record.h"

namespace ringside::hang {

/// Who has begun to make a communicator, and whether anybody came through: nobody does without all.
class CommStarts {
 public:
  /// A record of RecordKind::CommEvent that names a rank and a size.
  void take(const logs::Record& record);

  /// Who has not begun it, of each communicator that most have begun and nobody has made.
  void state(Statements& said) const;

 private:
  struct Start {
    int nranks = 0;
    std::set<int> begun;
    bool is_through = false;  ///< for one at least
    logs::Place place;        ///< of the last line
    std::string line;
  };

  std::map<std::uint64_t, Start> starts_;  ///< by the id that all ranks share
};

}  // namespace ringside::hang
