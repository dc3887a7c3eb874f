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
  int global = -1;  ///< its process's rank in the largest communicator; -1: it is not in that one
  std::string host;
  std::int64_t pid = -1;
  std::int64_t gpu = -1;
  bool is_missing = false;  ///< did not answer
  bool is_dead = false;     ///< considered so
  std::int64_t error = 0;   ///< async_error or a failed initialisation
  bool has_left = false;    ///< called ncclCommFinalize or ncclCommDestroy
  /// Launched Broadcast, Reduce, AllGather, ReduceScatter, AllReduce. Sends and receives do not count.
  std::array<std::int64_t, 5> counts{};
  std::int64_t completed = -1;  ///< of those, ended: ringside's own service alone counts them
  /// Launched and ended calls of all kinds, sends and receives among them: ringside's own service alone counts them.
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

/// One report: what each process had launched at one moment, not what had ended.
struct RasReport {
  std::string path;
  std::string time;  ///< "YYYY-MM-DD HH:MM:SS", local
  std::vector<RasCommunicator> communicators;
};

/// Parses a report; what the server says before it (`OK`) is passed over.
///
/// errors  Corrupt: broken JSON, or JSON that is no report
/// source  docs/formats 7.1
Result<RasReport> parse_ras_report(std::string_view text);

/// The reports that stand between the lines of a paste. `used` says of which lines they are made.
/// path  of the paste, for the reports
std::vector<RasReport> ras_reports_in(const std::vector<PasteLine>& lines, const std::string& path,
                                      std::vector<bool>& used);

/// The reports among the files. Files that cannot be read go to `bad`.
std::vector<RasReport> load_ras_reports(const std::vector<InputFile>& files,
                                        std::vector<BadFile>& bad);

/// Oldest first.
void sort_by_time(std::vector<RasReport>& reports);

/// Whether a rank launched or completed something between the first report and the last.
bool has_moved(const std::vector<RasReport>& reports);

/// Ranks (of the job) that have launched as many operations on the communicator as others, and other ones:
/// the fewer of them. No job that is right shows such, at whatever moment.
std::vector<int> odd_launchers(const RasCommunicator& communicator);

/// What the newest report says of ranks that left no dump, as dumps (`version` is "ras"): of each
/// communicator one call, the one that the rank waits in or its last one.
///
/// A communicator is the group of the dumps that has its members; a rank that has launched as much as one
/// with a dump stands where that one stands, one that launched k fewer is k calls behind. Where there are
/// no dumps, calls are numbered by what was launched: whoever launched more than the least waits.
std::vector<RankDump> ras_dumps(const std::vector<RasReport>& reports, Names& names,
                                const std::vector<RankDump>& dumps);

}  // namespace ringside::hang
