#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "diag/facts/job_facts.h"
#include "diag/hangdetect/readers/call.h"
#include "diag/hangdetect/readers/log_dumps.h"
#include "diag/hangdetect/readers/names.h"
#include "diag/logparse/record.h"

namespace ringside::hang {

/// Makes dumps from the calls that a program prints itself or that a person lists in a table (facts::read_calls()): the
/// calls of each rank in the order of its lines, with those that have not ended.
///
/// Ordering   pass the lines of each rank in order, then call finish() once
class StatedCalls {
 public:
  /// Takes a line.
  /// rank     the writer by the line's prefix; -1: unknown, the text may name it
  /// returns  whether the line states a call
  bool take(int rank, std::string_view line, logs::Place place);

  /// Takes a line of the rank that states no call.
  void take_other(int rank, std::string_view line);

  /// Returns one dump for each rank. Calls have the sequence numbers in the lines. Without numbers, the calls of a
  /// group are counted from 1, and within each step if the lines name steps.
  ///
  /// claimed  a person states that the job hangs: a rank's last call without a state then counts as pending
  /// world    number of ranks; 0: unknown
  /// returns  empty if fewer than two ranks have calls, or no call is pending
  std::vector<RankDump> finish(Names& names, const WhereFunction& where, bool claimed, int world);

  /// Returns whether the lines report ends of calls and every call has ended.  shape  after finish()
  [[nodiscard]] bool have_all_ended() const { return has_ended_; }

 private:
  struct Said {
    facts::Call call;
    logs::Place place;
  };
  struct Rank {
    std::vector<Said> calls;
    bool is_elsewhere = false;  ///< another line follows its last call
  };
  void add(Rank& rank, Said said);
  void number_calls(std::map<int, Rank>& ranks);
  /// Returns whether a send without a reported end has ended, because a later call of its rank has ended or waits.
  [[nodiscard]] bool has_left(const Rank& rank, std::size_t at) const;

  std::map<int, Rank> named_;     ///< by rank, for lines with the word `rank`
  std::map<int, Rank> labelled_;  ///< by bare number before the line: ranks if `named_` is empty
  std::map<int, Rank> staged_;    ///< by pipeline stage: ranks if the job has as many
  std::set<std::string> ended_transfers_;  ///< operations, `recv`, of which a line reports an end
  bool has_ends_ = false;                  ///< some line reports the end of a call
  bool has_ended_ = false;                 ///< every call that lines report has ended
};

}  // namespace ringside::hang
