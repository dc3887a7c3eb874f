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

/// Makes dumps from NCCL's COLL log lines: each rank's calls on each communicator, in order. The lines do not show
/// completion. A rank's last call counts as pending, as in a hung job, unless its communicator was destroyed later.
///
/// The sequence number of a call is the line's index on its communicator and process. opCount is not used, because in
/// most versions it does not count calls.
class CollLines {
 public:
  explicit CollLines(Names& names) : names_(names) {}

  /// Takes a line that states the rank and the id of a communicator.
  void take_comm(const logs::CommEvent& comm, const logs::Speaker& speaker);

  /// Takes a COLL line.
  /// rank  the writer's global rank; -1: unknown so far
  void take(const logs::Record& record, const logs::Speaker& speaker, int rank);

  /// Returns the ranks with the fewest calls, if others made more. Returns none if there are several communicators,
  /// because their counts cannot be compared.
  [[nodiscard]] std::vector<int> behind() const;

  /// Returns one dump for each rank; none if fewer than two ranks have COLL lines. Call it after the last line.
  ///
  /// A communicator gets the name of the group in `groups` that has its members. Otherwise its id is the name, or
  /// `default_pg` if it spans the job and no rank has a second such communicator. `is_newest_lost` is set for a rank
  /// with calls on a communicator that is not a group of the dumps.
  std::vector<RankDump> finish(int world, const WhereFunction& where, const LogGroups& groups);

 private:
  using Process = std::pair<std::string, int>;  ///< host, pid
  struct Comm {
    int rank = -1;
    int nranks = -1;
    std::uint64_t id = 0;
    bool has_ended = false;  ///< the communicator was destroyed: its calls have ended
  };
  struct Line {
    std::uint64_t comm = 0;
    std::uint32_t signature = 0;
    bool is_p2p = false;
    logs::Place place;
  };
  struct Lines {
    int rank = -1;
    int device = -1;  ///< device in the prefix of the newest line
    int nranks = -1;  ///< of the same line; -1: not in the line
    std::vector<Line> lines;
  };
  void number_by_device();
  [[nodiscard]] std::map<std::uint64_t, GroupName> name_communicators(
      int world, const LogGroups& groups) const;

  Names& names_;
  std::map<std::pair<Process, std::uint64_t>, Comm> comms_;
  std::map<Process, Lines> lines_;
};

/// Returns the ranks with the fewest calls; none if all ranks made equally many.
std::vector<int> fewest_calls(const std::map<int, std::uint64_t>& calls_of);

}  // namespace ringside::hang
