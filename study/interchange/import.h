#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "base/result.h"
#include "harness/scenario/scenario.h"
#include "study/interchange/recorded.h"

namespace ringside::study {

/// A scenario made from recordings.
struct ImportedScenario {
  Scenario scenario;
  std::string format;  ///< format of the recordings
  /// Information missing in the recordings, as text.
  std::vector<std::string> unknown;
};

/// Imports a job that other tools recorded: Chakra execution traces, recordings of profilers, NCCL's
/// Inspector and clog, flight recorder dumps, or NCCL logs with COLL lines. The content decides on the format. Folders
/// are searched; gzip and zstd are unpacked.
/// keep    maximum number of rounds of calls that all members of a group made, with at most one call per rank each; the
///         last rounds are kept
/// errors  NotFound: a file does not exist. Corrupt: as the reader of the format. InvalidArgument:
///         no call found, a pipe, a file of more than 4 GiB, two JSON files with Chakra traces, more than 4 million
///         steps
Result<ImportedScenario> import_scenario(
    const std::vector<std::string>& arguments,
    std::size_t keep = std::numeric_limits<std::size_t>::max());

/// Merges the recorded calls of all ranks to one program.
/// keep    as import_scenario()
/// errors  InvalidArgument: no rank has a call, too many steps
Result<Scenario> scenario_of(RecordedJob job,
                             std::size_t keep = std::numeric_limits<std::size_t>::max());

}  // namespace ringside::study
