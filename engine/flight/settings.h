#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "base/env.h"
#include "base/result.h"
#include "ringside/units.h"

namespace ringside {

/// The settings for recording a rank's calls and writing dumps; see README.md.
struct FlightSettings {
  std::size_t capacity = 2000;  ///< entries; 0: nothing is recorded
  /// The dump's path without the rank's number, which is appended. Empty: no dump is written
  std::string prefix = {};
  bool dumps_on_failure = true;
  bool has_timing = false;
  bool has_stacks = false;
  bool is_json = false;
  /// Whether a call without progress for its timeout fails; else it is waited for indefinitely.
  bool ends_at_timeout = true;
  /// Time without progress after the timeout from which a call's thread counts as stuck; 0: not checked.
  Nanoseconds heartbeat = std::chrono::seconds(480);
  /// Whether a timeout names the ranks that have not reached the call
  bool reports_desync = false;
  /// How long a broken communicator waits for its rank's dump: the file system may hang.
  Nanoseconds dump_wait = std::chrono::seconds(2);
  std::string pipe = {};  ///< a write to PIPE<rank>.pipe triggers a dump; empty: there is none

  /// Returns how long a call may be without progress: `requested`, or ten years.
  [[nodiscard]] Seconds op_timeout(Seconds requested) const {
    constexpr Seconds kWithoutEnd{3e8};  // nanoseconds can hold it
    return ends_at_timeout ? requested : kWithoutEnd;
  }
};

/// Reads PyTorch's variables; a newer name takes precedence over an older one.
/// errors  InvalidArgument: an invalid value
Result<FlightSettings> flight_settings(const Environment& environment = env_text);

}  // namespace ringside
