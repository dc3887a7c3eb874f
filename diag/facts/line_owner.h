#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "diag/facts/facts.h"
#include "diag/logparse/record.h"
#include "diag/logparse/speakers.h"

namespace ringside::facts {

/// Returns the process that wrote a line, as its prefixes identify it: by the global rank in `[rank3]:`, in the tags of
/// mpirun and srun or in PyTorch's default group; otherwise by host, process id and rank in a group.
Subject owner_of(const logs::Record& record, const logs::Speaker& speaker);

/// A rank with its process id or GPU.
struct ProcessLine {
  int rank = -1;
  std::int64_t pid = -1;  ///< -1: not in the line
  std::string device;     ///< PCI bus id as NCCL prints it, `4c000`; empty: not in the line
};

/// Reads a line that names a rank and its process id or GPU, in any order: `global rank 2, pid 3003`, `rank 3 (pid
/// 21004): 0000:4c:00.0`. Returns nothing if either is absent or the line names several ranks.
std::optional<ProcessLine> read_process_line(std::string_view line);

/// Returns the name that all facts use for a PyTorch group: `11(tp)`; `(tp)` if only its description is known; `pg 4`
/// if only its number in one process is known.
std::string torch_group_name(std::string_view guid, std::string_view description, int number);

}  // namespace ringside::facts
