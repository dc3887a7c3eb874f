#pragma once

#include <ringside/export.h>
#include <ringside/units.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace RINGSIDE_API ringside {

/// The clock of a trace's times.
enum class TraceClock : std::uint8_t {
  HostMonotonic = 0,  ///< CLOCK_MONOTONIC of the host: comparable between all processes of a file
  Simulated = 1,      ///< the simulator's clock, from 0
};

const char* to_string(TraceClock clock);  ///< host_monotonic, simulated

/// The description that a process records before its first event. A file has one for each process.
struct TraceInfo {
  TraceClock clock = TraceClock::HostMonotonic;
  std::string host;
  std::uint32_t pid = 0;
  std::string version;             ///< version of ringside
  Nanoseconds realtime_offset{0};  ///< CLOCK_REALTIME - CLOCK_MONOTONIC; 0 with a simulated clock
  std::string command_line;        ///< words separated by blanks
  std::vector<std::pair<std::string, std::string>> values;  ///< further (key, value) pairs
};

/// Key of `values`: time in ns of the clock. Calls that end at this time never ended, because the job hung.
inline constexpr const char* kNeverEnded = "stuck_ns";

/// Keys of `values`: the name and the number of ranks of each group of ranks, with `; ` between them.
/// Group g is communicator g; its sends and receives are communicator g + the number of groups.
inline constexpr const char* kTraceGroups = "groups";
inline constexpr const char* kGroupSizes = "group_sizes";
/// Key of `values`: the tools whose recordings the trace was made of.
inline constexpr const char* kRecordedBy = "recorded_by";
/// Key of `values`, set by its presence: calls are in the trace once they ended, so that none shows where a rank waits.
inline constexpr const char* kCompletedOnly = "completed_only";
/// Keys of `values`: the hosts, in the form of --on; the product name of the GPUs.
inline constexpr const char* kTraceCluster = "cluster";
inline constexpr const char* kTraceGpu = "gpu";

/// Returns the value of kNeverEnded.  returns  nullopt if the process has none, or if it is not a
/// number
std::optional<std::int64_t> never_ended_at(const TraceInfo& info);

/// Returns the description of the calling process, without `values`.
TraceInfo this_process_info(TraceClock clock);

}  // namespace ringside
