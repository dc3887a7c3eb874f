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

/// Converts the calls of a simulated run to a trace.
namespace ringside::study {

/// A call that a rank made in a simulated run. Times are in ns of the rank's clock; -1: never
/// happened.
struct PlayedCall {
  std::int32_t rank = 0;
  std::int32_t group = 0;  ///< index in the run's groups
  /// Number among the group's collectives, or among the rank's transfers in the group.
  std::uint32_t sequence = 0;
  bool is_transfer = false;
  Collective collective = Collective::AllReduce;
  Bytes bytes;
  std::int64_t created_ns = 0;     ///< time at which the host enqueued it
  std::int64_t started_ns = -1;    ///< time at which the stream started it
  std::int64_t moving_ns = -1;     ///< time at which the last rank that it depends on entered
  std::int64_t completed_ns = -1;  ///< time of its end
};

/// Returns the call of a rank's record, with the record's times.
PlayedCall played_call(int rank, const hangs::Record& record);

/// Returns the name of each group by number, such as "pipeline [3]".
std::vector<std::string> group_names(const hangs::Program& program);

/// Returns the trace event of a call, from its start on the stream to its end.
/// shape   the stream has started the call
/// groups  number of groups
/// end_ns  end to show for a call that never ends
TraceEvent event_of(const PlayedCall& call, std::size_t groups, std::int64_t end_ns);

/// Returns the times of each rank's other kernels as events of kind Compute, by rank; kernels that overlap are one event.
/// They belong to the group of the rank's first collective; without one, to the first group of which the rank is a member.
std::vector<TraceEvent> compute_events(const hangs::Play& play, const hangs::Program& program);

/// Counts of what write_trace() has written.
struct PlayedTrace {
  std::uint64_t calls = 0;
  std::uint64_t left_out = 0;  ///< number of calls before from_ns, which were omitted
  std::int64_t from_ns = 0;
};

/// Writes the calls that streams have started, and compute_events(), to an .rtrace file. If both are more than
/// `most_events`, it omits those of all ranks that end before some time; calls that never end are always written. These
/// get the end time that `kNeverEnded` names. The names of groups are omitted if they do not fit into a value.
/// shape   most_events >= 1
/// errors  as TraceFileSink::create(). System: the disk is full
Result<PlayedTrace> write_trace(const hangs::Play& play, const hangs::Program& program,
                                const std::string& name, const std::string& path,
                                std::uint64_t most_events = 2'000'000);

/// Appends the dumps in the folder to its run.rtrace, so that the trace alone gives their verdict.
/// errors  as hang::find_inputs(), read_file() and append_dumps()
Status add_dumps_to_trace(const std::string& folder);

}  // namespace ringside::study
