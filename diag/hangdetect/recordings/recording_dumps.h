#pragma once

#include <vector>

#include "diag/hangdetect/readers/call.h"
#include "diag/hangdetect/readers/dump_files.h"
#include "diag/hangdetect/readers/names.h"
#include "diag/hangdetect/recordings/recording.h"

namespace ringside::hang {

/// Converts the recording of a rank to its dump. A recording of completed calls does not show where the rank waits
/// (RankDump::is_completed_only).
RankDump dump_of(const recordings::Recording& recording, Names& names);

/// Loads the recordings among the files, by rank. Traces of profilers are used if no file is a log: they may show an
/// earlier time of the job. Files that cannot be read are appended to `bad`.
std::vector<RankDump> load_recording_dumps(const std::vector<InputFile>& files, Names& names,
                                           std::vector<BadFile>& bad);

}  // namespace ringside::hang
