#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "base/result.h"
#include "harness/scenario/scenario.h"
#include "study/interchange/recorded.h"

namespace ringside::study {

struct ImportedScenario {
  Scenario scenario;
  std::string format;  ///< what it was read from
  std::vector<std::string> unknown;
};

/// A job recorded by other tools: Chakra execution traces, traces of PyTorch's profiler, flight recorder dumps,
/// NCCL's logs with COLL lines; recognised by their bytes. Folders are walked, gzip and zstd unpacked.
/// errors  NotFound: an argument names no file. Corrupt: as the format's reader. InvalidArgument: there is no call
/// keep  rounds of calls, the last ones
Result<ImportedScenario> import_scenario(
    const std::vector<std::string>& arguments,
    std::size_t keep = std::numeric_limits<std::size_t>::max());

/// A program of the calls that were recorded for all ranks.
/// errors  InvalidArgument: no rank has a call, too many steps
Result<Scenario> scenario_of(RecordedJob job,
                             std::size_t keep = std::numeric_limits<std::size_t>::max());

}  // namespace ringside::study
