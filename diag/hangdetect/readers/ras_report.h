#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "diag/hangdetect/readers/call.h"
#include "diag/hangdetect/readers/dump_files.h"
#include "diag/hangdetect/readers/log_groups.h"
#include "diag/hangdetect/readers/names.h"
#include "diag/hangdetect/readers/paste_text.h"

namespace ringside::hang {

/// What a service counts, in the order of RasMember::counts.
inline constexpr std::array<const char*, 5> kRasCounts{"Broadcast", "Reduce", "AllGather",
                                                       "ReduceScatter", "AllReduce"};

/// A rank of a communicator, as `ncclras -f json` shows it.
struct RasMember {
  int place = -1;   ///< rank in the communicator
  int global = -1;  ///< rank in the largest communicator; -1: not a member of it
  std::string host;
  std::int64_t pid = -1;
  std::int64_t gpu = -1;
  bool is_missing = false;  ///< the process did not answer
  bool is_dead = false;     ///< ncclras considers the process dead
  std::int64_t error = 0;   ///< ncclResult of async_error or of a failed initialisation; 0: none
  bool has_left = false;    ///< the rank called ncclCommFinalize or ncclCommDestroy
  /// Number of launched Broadcast, Reduce, AllGather, ReduceScatter and AllReduce operations, in this order. The report
  /// does not count sends and receives.
  std::array<std::int64_t, 5> counts{};
  std::int64_t completed = -1;  ///< of those, ended: only ringside's own service counts them
  /// Launched and ended calls of all kinds, sends and receives among them: only ringside's own service counts them.
  std::int64_t operations = -1;
  std::string control_plane;  ///< address at which that service has the rank's dump
  int pending =
      -1;  ///< index in `counts` of the operation type with uncompleted calls, if exactly one has; else -1

  /// Returns the number of launched operations of all types.
  [[nodiscard]] std::int64_t total() const {
    return counts[0] + counts[1] + counts[2] + counts[3] + counts[4];
  }
};

/// A communicator of a report.
struct RasCommunicator {
  std::uint64_t hash = 0;
  int size = 0;
  std::vector<RasMember> members;  ///< the listed ranks, sorted by `place`
};

/// One report: the operations that each process had launched at one moment. NCCL's reports do not show completion.
struct RasReport {
  std::string path;
  std::string time;  ///< "YYYY-MM-DD HH:MM:SS", local
  std::vector<RasCommunicator> communicators;
};

/// Parses a report. Text of the server before it (`OK`) is ignored.
///
/// errors  Corrupt: broken JSON, or JSON that is not a report
/// source  docs/formats 7.1
Result<RasReport> parse_ras_report(std::string_view text);

/// Returns the reports in the lines of a paste.
/// path  the paste's name, stored in the reports
/// used  by line: set to true for lines of a report
std::vector<RasReport> ras_reports_in(const std::vector<PasteLine>& lines, const std::string& path,
                                      std::vector<bool>& used);

/// Returns the reports in the files. Files that cannot be read, or have more than 256 MiB, are appended to `bad`.
std::vector<RasReport> load_ras_reports(const std::vector<InputFile>& files,
                                        std::vector<BadFile>& bad);

/// Sorts reports by time, the oldest first.
void sort_by_time(std::vector<RasReport>& reports);

/// The ranks that did not answer: hash of the communicator, and rank in it.
using MissingRanks = std::set<std::pair<std::uint64_t, int>>;
MissingRanks missing_ranks(const RasReport& report);

/// Returns the index of the first report from after the hang, when a watchdog had already killed the waiting ranks: the
/// ranks missing from an earlier report answer again and other ranks are missing.
/// shape    missing: those of each report, oldest first
/// returns  missing.size() if all reports are of the hang
std::size_t first_of_aftermath(const std::vector<MissingRanks>& missing);

/// Erases the reports from after the hang.
/// shape  reports: oldest first
void drop_aftermath(std::vector<RasReport>& reports);

/// Returns whether any rank launched an operation between the first and the last report. If ranks are missing from the
/// last report, only the reports since then count: ranks that answer may go on for some calls after another rank stops.
bool has_moved(const std::vector<RasReport>& reports);

/// Returns the ranks of the job, ascending, that launched as many operations as others, but of different types: all but the
/// largest set of ranks with equal counts, and that one too if another set has as many ranks. In a correct job, ranks with
/// the same total always have the same counts.
std::vector<int> odd_launchers(const RasCommunicator& communicator);

/// Makes dumps (`version` is "ras") from the newest report for ranks without a dump. Each has one call for each
/// communicator: the call that the rank waits in, or its last one.
///
/// A communicator is matched to the group with the same members in `dumps`. A rank that launched as many operations as
/// a rank with a dump is in the same call; a rank that launched k fewer is k calls behind. Without dumps, the number of
/// launched operations is the call's sequence number, and each rank above the minimum waits.
std::vector<RankDump> ras_dumps(const std::vector<RasReport>& reports, Names& names,
                                const std::vector<RankDump>& dumps);

}  // namespace ringside::hang
