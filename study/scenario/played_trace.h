#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/vocabulary.h"
#include "harness/hangs/player.h"
#include "harness/hangs/program.h"
#include "ringside/trace_event.h"
#include "ringside/units.h"

/// The calls of a simulated run, and the trace of them.
namespace ringside::study {

/// A call that a rank made in a simulated run. Times are ns of its clock; -1: not reached.
struct PlayedCall {
  std::int32_t rank = 0;
  std::int32_t group = 0;      ///< index in the run's groups
  std::uint32_t sequence = 0;  ///< among the group's collectives, or the rank's transfers in it
  bool is_transfer = false;
  Collective collective = Collective::AllReduce;
  Bytes bytes;
  std::int64_t created_ns = 0;     ///< its host enqueued it
  std::int64_t started_ns = -1;    ///< its stream reached it
  std::int64_t moving_ns = -1;     ///< all ranks that it waits for had entered
  std::int64_t completed_ns = -1;  ///< it ended
};

PlayedCall played_call(int rank, const hangs::Record& record);

/// By number: "pipeline [3]".
std::vector<std::string> group_names(const hangs::Program& program);

/// Names for a trace of calls: the groups, followed by one more for each group's transfers, which are numbered
/// separately.
std::vector<std::string> communicator_names(std::vector<std::string> groups);

/// A key of TraceInfo::values: group_names(), separated by `; `; omitted if a value has no room for them.
inline constexpr const char* kTraceGroups = "groups";

/// Where a call that never ends is shown to end: visibly after everything between the two times.
std::int64_t behind(std::int64_t first_ns, std::int64_t last_ns);

/// The event of a call, from when the rank's stream reached it until it ended.
/// shape   the stream has reached it
/// groups  how many there are
/// end_ns  of a call that never ends
TraceEvent event_of(const PlayedCall& call, std::size_t groups, std::int64_t end_ns);

struct PlayedTrace {
  std::uint64_t events = 0;
  std::uint64_t left_out = 0;  ///< calls before from_ns
  std::int64_t from_ns = 0;
};

/// Writes the calls that streams have reached into an .rtrace file, at most so many: the newest, of all ranks from
/// one time on. Calls that never end get the end time that `kNeverEnded` names.
/// errors  as TraceFileSink::create()
Result<PlayedTrace> write_trace(const hangs::Play& play, const hangs::Program& program,
                                const std::string& name, const std::string& path,
                                std::uint64_t most_events = 2'000'000);

}  // namespace ringside::study
