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

/// The result of a merge.
struct TraceMerge {
  std::vector<AlignedClock> clocks;  ///< reference first
  std::uint64_t processes = 0;
  std::uint64_t events = 0;
  std::uint64_t unreadable_events = 0;  ///< not copied
};

/// Merges the files of one job (one per host or process) to one trace on the clock of the first
/// file, approximately in time order. Processes keep their names; wall time is the reference's.
///
/// sink         already has the file header
/// on_progress  receives the completed share now and then; may be empty
/// errors       as AlignedClocks::of(), those of the sink
Result<TraceMerge> merge_traces(std::span<const TraceFile* const> files,
                                std::span<const std::string> names, TraceSink& sink,
                                const std::function<void(double)>& on_progress = {});

}  // namespace ringside
