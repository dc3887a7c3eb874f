#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "ringside/units.h"

namespace ringside {

/// What came of a point of a sweep.
struct PointResult {
  enum class End {
    Finished,  ///< the job finished: it has times
    Hang,      ///< it deadlocked
    Refused,   ///< such a job cannot be
    Failed     ///< the point's process ended before its answer
  };
  End end = End::Failed;
  std::string reason = {};  ///< in words; empty where it finished
  Seconds step{};           ///< of an iteration
  Seconds compute{};        ///< of it, in kernels
  Seconds exposed{};        ///< in calls that no kernel overlaps
  double call_error_percent =
      0;  ///< of calls: typical error, the median over comparable systems (docs/accuracy.md)
  int ranks = 0;
  int hosts = 0;
  double tokens = 0;  ///< of an iteration; 0: it trains nothing
  double memory = 0;  ///< bytes that the fullest GPU needs; 0: it trains nothing, or is unknown
  std::string limit = {};  ///< the calls that take most time, and what limits them

  [[nodiscard]] Seconds idle() const { return step - compute - exposed; }
  friend bool operator==(const PointResult&, const PointResult&) = default;
};

const char* to_string(PointResult::End end);  ///< finished, hang, refused, failed

std::string to_json(const PointResult& result);
/// errors  Corrupt: another text
Result<PointResult> parse_point_result(std::string_view json);

}  // namespace ringside
