#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "diag/hangdetect/readers/call.h"
#include "diag/hangdetect/readers/log_dumps.h"
#include "diag/hangdetect/readers/log_groups.h"
#include "diag/hangdetect/readers/names.h"
#include "diag/logparse/call_records.h"
#include "diag/logparse/init_records.h"
#include "diag/logparse/record.h"
#include "diag/logparse/speakers.h"

namespace ringside::hang {

/// Makes dumps of NCCL's COLL lines: what each rank called on each communicator, in order. The lines do not show
/// which calls ended. In a hung job the last call of a rank is pending, so it counts as pending unless its
/// communicator was destroyed since.
///
/// opCount is not used: it does not count calls in most versions. Lines are numbered for each
/// communicator of a process instead.
class CollLines {
 public:
  explicit CollLines(Names& names) : names_(names) {}

  /// A line that names a communicator: its rank and id.
  void take_comm(const logs::CommEvent& comm, const logs::Speaker& speaker);

  /// rank  the writer's global rank; -1: no line has named it so far
  void take(const logs::Record& record, const logs::Speaker& speaker, int rank);

  /// Ranks that have made the fewest calls, where others have made more; empty where there are several communicators,
  /// whose call counts cannot be compared.
  [[nodiscard]] std::vector<int> behind() const;

  /// Groups get the dumps' names where the members of a communicator identify the group. Otherwise they are named by
  /// the communicator's id; one over the whole job is the default group where a rank has no second one.
  ///
  /// shape  after everything was read; empty if fewer than two ranks have lines. `is_newest_lost` is set for a rank
  ///        that has calls on a communicator that is not a group of the dumps
  std::vector<RankDump> finish(int world, const WhereFunction& where, const LogGroups& groups);

 private:
  using Process = std::pair<std::string, int>;  ///< host, pid
  struct Comm {
    int rank = -1;
    int nranks = -1;
    std::uint64_t id = 0;
    bool has_ended = false;  ///< destroyed: its calls have ended
  };
  struct Line {
    std::uint64_t comm = 0;
    std::uint32_t signature = 0;
    bool is_p2p = false;
    logs::Place place;
  };
  struct Lines {
    int rank = -1;
    int device = -1;  ///< of the prefix of the newest line
    int nranks = -1;  ///< of the same line, if it has it
    std::vector<Line> lines;
  };
  void number_by_device();
  [[nodiscard]] std::map<std::uint64_t, GroupName> name_communicators(
      int world, const LogGroups& groups) const;

  Names& names_;
  std::map<std::pair<Process, std::uint64_t>, Comm> comms_;
  std::map<Process, Lines> lines_;
};

/// Ranks that have made the fewest calls; empty where all have made as many.
std::vector<int> fewest_calls(const std::map<int, std::uint64_t>& calls_of);

}  // namespace ringside::hang
