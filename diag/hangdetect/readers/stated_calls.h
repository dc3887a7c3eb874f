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

/// Makes dumps of the calls that a program prints itself, or that people list in tables (facts::read_calls): what each
/// rank called, in the order of its lines, and which of these calls have not ended.
///
/// Ordering   lines of a rank come in their order, then finish(), once
class StatedCalls {
 public:
  /// rank     that wrote the line, by its prefix; -1: the line names it itself, if at all
  /// returns  whether the line is of a call
  bool take(int rank, std::string_view line, logs::Place place);

  /// The rank has logged a line that is not a call.
  void take_other(int rank, std::string_view line);

  /// Calls keep the numbers that lines give. Without such numbers, calls of a group are counted from the first one,
  /// within each step where lines have steps.
  ///
  /// claimed  a person states that the job hangs: a call without a state is then pending if it is its rank's last one
  /// world    ranks of the job; 0: unknown
  /// returns  empty: fewer than two ranks have calls, or no call is pending
  std::vector<RankDump> finish(Names& names, const WhereFunction& where, bool claimed, int world);

  /// Whether lines report the ends of calls, and every call has ended; known after finish().
  [[nodiscard]] bool have_all_ended() const { return has_ended_; }

 private:
  struct Said {
    facts::Call call;
    logs::Place place;
  };
  struct Rank {
    std::vector<Said> calls;
    bool is_elsewhere = false;  ///< a line of something else follows its last call
  };
  void add(Rank& rank, Said said);
  void number_calls(std::map<int, Rank>& ranks);
  /// A send without a reported end has ended where a later call of its rank has ended or waits.
  [[nodiscard]] bool has_left(const Rank& rank, std::size_t at) const;

  std::map<int, Rank> named_;     ///< by ranks that lines name as such
  std::map<int, Rank> labelled_;  ///< by bare numbers before lines: ranks if no line names any
  std::map<int, Rank> staged_;    ///< by stages of a pipeline: ranks if the job has as many
  std::set<std::string> ended_transfers_;  ///< `recv`: kinds for which some line reports an end
  bool has_ends_ = false;                  ///< some line reports the end of a call
  bool has_ended_ = false;                 ///< every call that lines report has ended
};

}  // namespace ringside::hang
