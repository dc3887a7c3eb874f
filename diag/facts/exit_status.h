#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "diag/facts/facts.h"

namespace ringside::facts {

/// How a process ended: by a signal or with a code.
struct ExitStatus {
  DeathCause cause = DeathCause::Unknown;
  std::int64_t code = 0;  ///< exit code or signal number
};

/// Reads a status as Python, shells and containers print it: -9 and 137 are signal 9, 3 is exit code 3.
/// returns  nothing for 0
std::optional<ExitStatus> status_of_code(std::int64_t code);

/// Reads `9`, `SIGKILL`, `Killed`, `Segmentation fault`.
std::optional<ExitStatus> status_of_signal(std::string_view signal);

/// Reads a launcher's text: `Killed`, `Segmentation fault (core dumped)`, `Exited with exit code 3`, `Out Of Memory`.
/// returns  nothing: the text states no end, or a good one
std::optional<ExitStatus> status_of_words(std::string_view words);

/// `all_reduce` of `ALLREDUCE`, `allreduce`, `_ALLGATHER_BASE`, `ncclAllReduce`, `MPI_Allreduce`; else the name in small
/// letters.
std::string canonical_operation(std::string_view name);

}  // namespace ringside::facts
