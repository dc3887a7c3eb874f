#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/vocabulary.h"
#include "diag/hangdetect/readers/call.h"
#include "diag/hangdetect/recordings/recording.h"

namespace ringside::study {

/// An .rtrace file in memory, made of other tools' recordings.
struct RecordedTrace {
  std::vector<std::byte> bytes;
  std::string tools;               ///< "PyTorch's profiler"
  std::vector<std::string> notes;  ///< facts that the recordings do not state, each once
};

/// Returns whether the paths hold a recording of calls, and no dump or trace of ringside.
bool are_recordings(const std::vector<std::string>& paths);

/// Makes a trace of whole calls of the recordings that the paths name or hold. Communicators are the groups, then one
/// more per group for its transfers. A call lasts from its begin on the device to its end there. The clocks of hosts are
/// aligned by the ends of collectives. The GPU's other work is one event of kind Compute for each busy time.
///
/// errors  NotFound: no file is a recording. Those of the reader if no recording can be read
Result<RecordedTrace> trace_of_recordings(const std::vector<std::string>& paths);
/// As trace_of_recordings(), of recordings that were read. Ranks and numbers are complete (recordings::complete()).
/// errors  as TraceFile::parse()
Result<RecordedTrace> trace_of(std::vector<recordings::Recording> recordings);

/// Returns the collective that a trace shows for an operation; AllReduce for a barrier, and for operations that traces
/// cannot express.
Collective collective_of(hang::Op op);

}  // namespace ringside::study
