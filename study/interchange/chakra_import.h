#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "study/interchange/recorded.h"

namespace ringside::study {

/// A file given by the user, read.
struct GivenFile {
  std::string name;
  std::string bytes;
};

/// Chakra execution traces of a job's ranks, and the file of its communicator groups (`{"1": [0, 1], ...}`), if there is
/// one. A file's rank is the last number in its name.
/// errors  Corrupt: as read_chakra(); two files of a rank, ranks missing, nodes that wait for each other in a cycle, a
///         communicator group of strange ranks, a call without its size
Result<RecordedJob> import_chakra(const std::vector<GivenFile>& traces, const GivenFile* groups);

}  // namespace ringside::study
