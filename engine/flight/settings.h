#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "base/env.h"
#include "base/result.h"
#include "ringside/units.h"

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
  /// Whether a call in which nothing moves for its time-out fails; else it is waited for without end.
  bool ends_at_timeout = true;
  /// Beyond its time-out a call may be without progress for so long before its thread counts as stuck; 0: not checked.
  Nanoseconds heartbeat = std::chrono::seconds(480);
  bool reports_desync = false;  ///< whether a time-out says which ranks have not come to the call
  /// How long a broken communicator waits for its rank's dump: the file system may hang.
  Nanoseconds dump_wait = std::chrono::seconds(2);
  std::string pipe = {};  ///< a write to PIPE<rank>.pipe triggers a dump; empty: there is none

  /// How long a call may be without progress: as `requested`, or ten years.
  [[nodiscard]] Seconds op_timeout(Seconds requested) const {
    constexpr Seconds kWithoutEnd{3e8};  // nanoseconds can hold it
    return ends_at_timeout ? requested : kWithoutEnd;
  }
};

/// What PyTorch's variables say; the newer name before the older one.
/// errors  InvalidArgument: an invalid value
Result<FlightSettings> flight_settings(const Environment& environment = env_text);

}  // namespace ringside
