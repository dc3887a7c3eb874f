#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
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
  int global = -1;  ///< its process's rank in the largest communicator; -1: not a member of it
  std::string host;
  std::int64_t pid = -1;
  std::int64_t gpu = -1;
  bool is_missing = false;  ///< did not answer
  bool is_dead = false;     ///< considered so
  std::int64_t error = 0;   ///< async_error or a failed initialisation
  bool has_left = false;    ///< called ncclCommFinalize or ncclCommDestroy
  /// Launched Broadcast, Reduce, AllGather, ReduceScatter, AllReduce. Sends and receives do not count.
  std::array<std::int64_t, 5> counts{};
  std::int64_t completed = -1;  ///< of those, ended: only ringside's own service counts them
  /// Launched and ended calls of all kinds, sends and receives among them: only ringside's own service counts them.
  std::int64_t operations = -1;
  std::string control_plane;  ///< address at which that service has the rank's dump
  int pending =
      -1;  ///< by that, the place among them of the only kind that has calls which have not ended

  [[nodiscard]] std::int64_t total() const {
    return counts[0] + counts[1] + counts[2] + counts[3] + counts[4];
  }
};

struct RasCommunicator {
  std::uint64_t hash = 0;
  int size = 0;
  std::vector<RasMember> members;  ///< those that the report lists, by place
};

/// One report: what each process had launched at one moment; it does not show what had ended.
struct RasReport {
  std::string path;
  std::string time;  ///< "YYYY-MM-DD HH:MM:SS", local
  std::vector<RasCommunicator> communicators;
};

/// Parses a report; the server's output before it (`OK`) is ignored.
///
/// errors  Corrupt: broken JSON, or JSON that is not a report
/// source  docs/formats 7.1
Result<RasReport> parse_ras_report(std::string_view text);

/// The reports between the lines of a paste. `used` marks their lines.
/// path  of the paste, for the reports
std::vector<RasReport> ras_reports_in(const std::vector<PasteLine>& lines, const std::string& path,
                                      std::vector<bool>& used);

/// The reports among the files. Files that cannot be read go to `bad`.
std::vector<RasReport> load_ras_reports(const std::vector<InputFile>& files,
                                        std::vector<BadFile>& bad);

/// Oldest first.
void sort_by_time(std::vector<RasReport>& reports);

/// Erases the reports of a job that was already ending: those behind the first one with missing ranks in which these ranks
/// answer again and others are missing. A watchdog had ended the ranks that waited by then. `reports`: oldest first.
void drop_aftermath(std::vector<RasReport>& reports);

/// Whether a rank launched or completed something between the first report and the last.
bool has_moved(const std::vector<RasReport>& reports);

/// Ranks (of the job) that have launched as many operations on the communicator as others, but of other kinds: the
/// smaller set of them. A correct job never shows that, at any moment.
std::vector<int> odd_launchers(const RasCommunicator& communicator);

/// Turns the newest report into dumps of ranks that left none (`version` is "ras"): one call for each communicator,
/// which the rank waits in or made last.
///
/// A communicator is the group of the dumps with the same members. A rank that has launched as much as one with a
/// dump is in the same call; a rank that launched k fewer is k calls behind. Without dumps, launched operations
/// number the calls, and each rank that launched more than the minimum waits.
std::vector<RankDump> ras_dumps(const std::vector<RasReport>& reports, Names& names,
                                const std::vector<RankDump>& dumps);

}  // namespace ringside::hang
