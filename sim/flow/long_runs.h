#pragma once

#include <cstdint>
#include <optional>

#include "sim/event/wiring.h"

namespace ringside {

/// Runs of like steps in a job's programs, all of one length: a ring of n ranks has two of n - 2 each. Once its pipes are full
/// each step of such a run takes as long as the one before.
class LongRuns {
 public:
  /// returns  nothing where there are none, lengths differ, or a line's two ends have not as many of them: then fewer steps
  ///          would leave messages without a receiver
  static std::optional<LongRuns> find(const EventJob& job);

  [[nodiscard]] std::int32_t length() const { return length_; }

  /// The job with shorter ones, as far as chunks count as alike.
  [[nodiscard]] EventJob shortened(const EventJob& job, std::int32_t length) const;

 private:
  explicit LongRuns(std::int32_t length) : length_(length) {}
  std::int32_t length_;
};

}  // namespace ringside
