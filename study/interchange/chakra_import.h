#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "study/interchange/recorded.h"

namespace ringside::study {

/// The name and content of a file that the user gave.
struct GivenFile {
  std::string name;
  std::string bytes;
};

/// Imports Chakra execution traces of a job's ranks. The rank of a file is the last number in its
/// name.
/// groups  file of the communicator groups (`{"1": [0, 1], ...}`); null: none
/// errors  Corrupt: as read_chakra(); two files of one rank, missing ranks, cyclic dependencies, a
///         group with an unknown rank, a call without size
Result<RecordedJob> import_chakra(const std::vector<GivenFile>& traces, const GivenFile* groups);

}  // namespace ringside::study
