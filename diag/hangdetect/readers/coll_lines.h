#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
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
/// The sequence number of a call is the line's index on its communicator and process, from 1. opCount is not used,
/// because in most versions it does not count calls.
///
/// Of a long log, only the newest lines of each process are kept: a hang is where the calls end. Dropped lines count in
/// the sequence numbers, so ranks remain comparable.
///
/// Ordering   pass the lines of a process in the order of its log, then call finish() once
/// Ownership  `names` must outlive the object
class CollLines {
 public:
  /// Calls kept of one process: 50 times the default ring buffer of PyTorch's recorder; 32 bytes each.
  static constexpr std::size_t kMostCalls = 100'000;

  /// most_calls  calls kept of one process, >= 1
  explicit CollLines(Names& names, std::size_t most_calls = kMostCalls)
      : names_(names), most_calls_(most_calls) {}

  /// Takes a line that states the rank and the id of a communicator.
  void take_comm(const logs::CommEvent& comm, const logs::Speaker& speaker);

  /// Takes a COLL line.
  /// rank  the writer's global rank; -1: unknown so far
  void take(const logs::Record& record, const logs::Speaker& speaker, int rank);

  /// Returns the ranks with the fewest calls, if others made more. Returns none if there are several communicators,
  /// because their counts cannot be compared.
  [[nodiscard]] std::vector<int> behind() const;

  /// Returns one dump for each rank of the job; none if fewer than two ranks have COLL lines.
  ///
  /// A communicator gets the name of the group in `groups` that has its members. Otherwise its id is the name, or
  /// `default_pg` if it spans the job and no rank has a second such communicator. `is_newest_lost` is set for a rank
  /// with calls on a communicator that is not a group of the dumps. Calls on a part of the job whose communicator has
  /// no known id are omitted, because nothing shows which ranks share it.
  ///
  /// world   number of ranks that lines name: a communicator of this size spans the job
  /// stated  number of ranks that lines state, as facts_.known_world; 0: no line does. Ranks beyond it and beyond the
  ///         sizes in the COLL lines are of another job, and get no dump
  /// where   resolves the places of the lines
  std::vector<RankDump> finish(int world, int stated, const WhereFunction& where,
                               const LogGroups& groups);

 private:
  using ProcessId = std::pair<std::string, int>;          ///< host, pid
  using CommKey = std::pair<ProcessId, std::uint64_t>;    ///< a process's pointer to a communicator
  using GroupNames = std::map<std::uint64_t, GroupName>;  ///< by id of the communicator
  /// A communicator of one process.
  struct Comm {
    int rank = -1;
    int nranks = -1;
    std::uint64_t id = 0;    ///< the same in all its processes; 0: unknown
    bool has_ended = false;  ///< the communicator was destroyed: its calls have ended
  };
  struct Line {
    std::uint64_t comm = 0;  ///< pointer in the process
    std::uint32_t signature = 0;
    std::uint32_t sequence = 0;
    bool is_p2p = false;
    logs::Place place;
  };
  struct Process {
    int rank = -1;            ///< global rank; -1: unknown
    int device = -1;          ///< device in the prefix of the newest line
    int nranks = -1;          ///< size of the communicator in the same line; -1: not in the line
    std::uint64_t calls = 0;  ///< calls in all lines, with those that are no longer kept
    std::deque<Line> lines;   ///< the newest calls
    /// Calls so far by communicator and whether they are sends or receives, which NCCL numbers apart
    std::map<std::pair<std::uint64_t, bool>, std::uint32_t> sequences;
  };
  /// Communicators of a process whose calls are counted; a bound for foreign text, above any real job.
  static constexpr std::size_t kMostComms = 4'096;

  std::uint32_t signature_of(const logs::CollCall& line, Op op);
  void number_by_device();
  [[nodiscard]] GroupNames name_communicators(int world, const LogGroups& groups) const;
  [[nodiscard]] const Comm* find_comm(const ProcessId& process, std::uint64_t comm) const;
  /// Returns whether the rank belongs to the job of `stated` ranks; true for all known ranks if it is 0.
  [[nodiscard]] bool is_of_job(int rank, int stated) const;
  Call call_of(const Line& line, const GroupName& group, std::int64_t line_number);
  RankDump dump_of(const ProcessId& id, const Process& process, int world,
                   const WhereFunction& where, const GroupNames& groups);

  Names& names_;
  std::size_t most_calls_;
  std::map<CommKey, Comm> comms_;
  std::map<ProcessId, Process> processes_;
};

/// Returns the ranks with the fewest calls; none if all ranks made equally many.
std::vector<int> fewest_calls(const std::map<int, std::uint64_t>& calls_of);

}  // namespace ringside::hang
