#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/env.h"

namespace ringside {

/// The levels of NCCL_DEBUG. Each level includes the levels before it.
enum class DebugLevel : std::uint8_t { None, Version, Warn, Info, Abort, Trace };

/// A time of the wall clock.
struct WallTime {
  std::int64_t seconds = 0;  ///< since 1970, UTC
  std::int32_t nanoseconds = 0;
};

/// The timestamp at the start of a line, in 2.26 and later.
/// source  docs/formats 1.2
class Timestamps {
 public:
  enum class Zone : std::uint8_t { Utc, Local };

  /// Makes NCCL's default: `[2026-03-01 10:11:12] ` before warnings only.
  Timestamps() = default;
  explicit Timestamps(Zone zone) : zone_(zone) {}

  /// Reads the levels and the format from two variables. Unknown words are ignored, as in NCCL.
  ///
  ///     NCCL_DEBUG_TIMESTAMP_LEVELS   a list of ALL, VERSION, WARN, INFO, ABORT, TRACE; `^` before it: all others
  ///     NCCL_DEBUG_TIMESTAMP_FORMAT   as strftime, with one `%1f` .. `%9f` for fractions of a second; an underscore is
  ///                                   a blank
  static Timestamps from(const Environment& environment, Zone zone);

  [[nodiscard]] bool shows(DebugLevel level) const {
    return !format_.empty() && ((levels_ >> static_cast<unsigned>(level)) & 1U) != 0;
  }
  /// Returns the timestamp of a line that shows one.
  [[nodiscard]] std::string text(WallTime time) const;

 private:
  Zone zone_ = Zone::Utc;
  std::uint32_t levels_ = 1U << static_cast<unsigned>(DebugLevel::Warn);  ///< a bit for each level
  std::string format_ = "[%F %T] ";
};

}  // namespace ringside
