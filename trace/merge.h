#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "ringside/trace_reader.h"
#include "trace/align.h"
#include "trace/sink.h"

namespace ringside {

/// The counts of a merge.
struct TraceMerge {
  std::vector<AlignedClock> clocks;  ///< the reference first
  std::uint64_t processes = 0;
  std::uint64_t events = 0;
  std::uint64_t unreadable_events = 0;  ///< not copied
};

/// Writes the events of several files of one job, a file a host or a process, as one trace on the clock of the first,
/// near enough in the order of time. `sink` has its header already. Processes keep their names; wall time is the
/// reference's.
///
/// on_progress  receives now and then the share that is done; may be empty
/// errors       as AlignedClocks::of(), the sink's
Result<TraceMerge> merge_traces(std::span<const TraceFile* const> files,
                                std::span<const std::string> names, TraceSink& sink,
                                const std::function<void(double)>& on_progress = {});

}  // namespace ringside
