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

/// A call that a rank made in a simulated run. Times are ns of its clock; -1: it never came to that.
struct PlayedCall {
  std::int32_t rank = 0;
  std::int32_t group = 0;      ///< index in the run's groups
  std::uint32_t sequence = 0;  ///< among the group's collectives, or the rank's transfers in it
  bool is_transfer = false;
  Collective collective = Collective::AllReduce;
  Bytes bytes;
  std::int64_t created_ns = 0;     ///< its host enqueued it
  std::int64_t started_ns = -1;    ///< its stream reached it
  std::int64_t moving_ns = -1;     ///< all whom it waits for had come
  std::int64_t completed_ns = -1;  ///< it was over
};

PlayedCall played_call(int rank, const hangs::Record& record);

/// By number: "pipeline [3]".
std::vector<std::string> group_names(const hangs::Program& program);

/// Of a trace of calls: the groups, and behind them once more for their transfers, whose numbers are others.
std::vector<std::string> communicator_names(std::vector<std::string> groups);

/// A key of TraceInfo::values: group_names(), between them `; `; left out where a value has no room for them.
inline constexpr const char* kTraceGroups = "groups";

/// Where what never ends is shown to end: behind all that was between the two moments, so that one sees it.
std::int64_t behind(std::int64_t first_ns, std::int64_t last_ns);

/// The call from when the rank's stream reached it until it was over.
/// shape   the stream has reached it
/// groups  how many there are
/// end_ns  of a call that never ends
TraceEvent event_of(const PlayedCall& call, std::size_t groups, std::int64_t end_ns);

struct PlayedTrace {
  std::uint64_t events = 0;
  std::uint64_t left_out = 0;  ///< calls before from_ns
  std::int64_t from_ns = 0;
};

/// Writes the calls that streams have reached into an .rtrace file, at most so many: the newest, of all ranks from one moment
/// on. Calls that never end do so at the moment that `kNeverEnded` names.
/// errors  as TraceFileSink::create()
Result<PlayedTrace> write_trace(const hangs::Play& play, const hangs::Program& program,
                                const std::string& name, const std::string& path,
                                std::uint64_t most_events = 2'000'000);

}  // namespace ringside::study
