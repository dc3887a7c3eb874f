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

/// Makes dumps of NCCL's COLL lines: what each rank called on each communicator, in order. The lines do
/// not say what ended; the last call of a rank is taken to be pending, which it is when the job stands, unless its
/// communicator was destroyed since.
///
/// opCount is not used: it does not count calls in most versions. Lines are numbered for each
/// communicator of a process instead.
class CollLines {
 public:
  explicit CollLines(Names& names) : names_(names) {}

  /// A line that tells of a communicator: its rank and id.
  void take_comm(const logs::CommEvent& comm, const logs::Speaker& speaker);

  /// `rank` is the speaker's global rank, -1 where no line said it so far.
  void take(const logs::Record& record, const logs::Speaker& speaker, int rank);

  /// Ranks that have made the fewest calls, where others have made more; empty where there are several
  /// communicators, whose calls cannot be counted against each other.
  [[nodiscard]] std::vector<int> behind() const;

  /// Groups are named as the dumps name them where the members of a communicator tell which it is. Without
  /// dumps, or where they do not tell, by the communicator's id; one over the whole job is the default
  /// group where a rank has no second one.
  ///
  /// shape  after everything was read; empty where fewer than two ranks were heard. `is_newest_lost` of a
  ///        rank that has calls on a communicator which is none of the dumps' groups
  std::vector<RankDump> finish(int world, const WhereFunction& where, const LogGroups& groups);

 private:
  using Process = std::pair<std::string, int>;  ///< host, pid
  struct Comm {
    int rank = -1;
    int nranks = -1;
    std::uint64_t id = 0;
    bool has_ended = false;  ///< destroyed: its calls are through
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
    int nranks = -1;  ///< of the same, where it says so
    std::vector<Line> lines;
  };
  void number_by_device();
  [[nodiscard]] std::map<std::uint64_t, GroupName> name_communicators(
      int world, const LogGroups& groups) const;

  Names& names_;
  std::map<std::pair<Process, std::uint64_t>, Comm> comms_;
  std::map<Process, Lines> lines_;
};

/// Ranks that have made the fewest calls; nobody where all have made as many.
std::vector<int> fewest_calls(const std::map<int, std::uint64_t>& calls_of);

}  // namespace ringside::hang
