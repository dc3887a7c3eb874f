#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "diag/facts/facts.h"
#include "diag/logparse/record.h"
#include "diag/logparse/speakers.h"

namespace ringside::facts {

/// The writer of a line, as far as its prefixes name it: the global rank of `[rank3]:`, of mpirun's and srun's tags
/// and of PyTorch's default group, otherwise host and process, and the place in a group.
Subject owner_of(const logs::Record& record, const logs::Speaker& speaker);

/// A rank, and its process or GPU.
struct ProcessLine {
  int rank = -1;
  std::int64_t pid = -1;  ///< -1: not shown
  std::string device;     ///< bus as NCCL counts it, `4c000`; empty: not shown
};

/// Reads a line that names both, in any order: `global rank 2, pid 3003`, `rank 3 (pid 21004): 0000:4c:00.0`.
/// returns  nothing: it names one of them, or several ranks
std::optional<ProcessLine> read_process_line(std::string_view line);

/// The name of a PyTorch group in all facts: `11(tp)`; `(tp)` where only its description is known; `pg 4` where only
/// its number in one process is known.
std::string torch_group_name(std::string_view guid, std::string_view description, int number);

}  // namespace ringside::facts
