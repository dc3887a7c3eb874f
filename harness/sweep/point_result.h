#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "ringside/units.h"

namespace ringside {

/// The result of a point of a sweep.
struct PointResult {
  enum class End {
    Finished,  ///< the job finished; times are valid
    Hang,      ///< it deadlocked
    Refused,   ///< such a job cannot be simulated
    Failed     ///< the point's process ended without an answer
  };
  End end = End::Failed;
  std::string reason = {};  ///< reason for the end; empty if finished
  Seconds step{};           ///< time per iteration
  Seconds compute{};        ///< part of `step` in kernels
  Seconds exposed{};        ///< part of `step` in calls that no kernel overlaps
  /// Typical error of call times: the median over comparable systems (docs/accuracy.md).
  double call_error_percent = 0;
  int ranks = 0;
  int hosts = 0;
  double tokens = 0;       ///< tokens per iteration; 0: no training
  double memory = 0;       ///< bytes that the fullest GPU needs; 0: no training, or unknown
  std::string limit = {};  ///< text: the calls that take most time, and their limits

  [[nodiscard]] Seconds idle() const { return step - compute - exposed; }
  friend bool operator==(const PointResult&, const PointResult&) = default;
};

const char* to_string(PointResult::End end);  ///< finished, hang, refused, failed

std::string to_json(const PointResult& result);
/// errors  Corrupt: not the text of a result
Result<PointResult> parse_point_result(std::string_view json);

}  // namespace ringside
