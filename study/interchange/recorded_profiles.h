#pragma once

#include <vector>

#include "base/result.h"
#include "diag/hangdetect/recordings/recording.h"
#include "study/interchange/recorded.h"

namespace ringside::study {

/// Imports the recordings of some or all ranks of a job: the calls of each rank, and its GPU's work between them. Ranks
/// without a recording are marked silent.
///
/// A call is asynchronous if kernels ran during it. The GPU's other time until the next call, computing or idle, becomes a
/// kernel before that call. Time in which only calls ran is omitted, as the calls are simulated again. Recordings without
/// compute kernels give calls alone.
///
/// errors  those of the first file that could not be read
Result<RecordedJob> import_recordings(recordings::Loaded loaded);

}  // namespace ringside::study
