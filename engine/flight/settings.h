#pragma once

#include <cstddef>
#include <string>

#include "base/env.h"
#include "base/result.h"

namespace ringside {

/// How the calls of a rank are recorded, and what becomes of the record: README.md.
struct FlightSettings {
  std::size_t capacity = 2000;  ///< entries; 0: nothing is recorded
  std::string prefix =
      {};  ///< of the dump's path; the rank's number follows. Empty: none is written
  bool dumps_on_failure = true;
  bool has_timing = false;
  bool has_stacks = false;
  bool is_json = false;
};

/// What PyTorch's variables say; the newer name before the older one.
/// errors  InvalidArgument: a value that is none
Result<FlightSettings> flight_settings(const Environment& environment = env_text);

}  // namespace ringside
