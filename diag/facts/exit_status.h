#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "diag/facts/facts.h"

namespace ringside::facts {

/// The way in which a process ended: by a signal or with an exit code.
struct ExitStatus {
  DeathCause cause = DeathCause::Unknown;
  std::int64_t code = 0;  ///< exit code or signal number
};

/// Returns the meaning of a status as Python, shells and containers print it: -9 and 137 are signal 9, 3 is exit code
/// 3. Returns nothing for 0.
std::optional<ExitStatus> status_of_code(std::int64_t code);

/// Returns the signal that a text names by number or name: `9`, `SIGKILL`, `Killed`, `Segmentation fault`. Returns
/// nothing for another text.
std::optional<ExitStatus> status_of_signal(std::string_view signal);

/// Returns the status that a launcher's text states: `Killed`, `Segmentation fault (core dumped)`, `Exited with exit
/// code 3`, `Out Of Memory`. Returns nothing if the text states no end or a success.
std::optional<ExitStatus> status_of_words(std::string_view words);

/// Returns the canonical name of an operation: `all_reduce` for `ALLREDUCE`, `allreduce`, `ncclAllReduce` and
/// `MPI_Allreduce`. Returns an unknown name in lower case.
std::string canonical_operation(std::string_view name);

}  // namespace ringside::facts
