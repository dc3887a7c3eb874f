#pragma once

#include <cstdint>
#include <optional>

#include "sim/event/wiring.h"

namespace ringside {

/// Runs of equal steps in a job's programs, all of one length: a ring of n ranks has two runs of n
/// - 2 steps. Once its pipeline is full, each step of a run takes as long as the one before.
class LongRuns {
 public:
  /// Finds the runs of a job.
  /// returns  nullopt if the job has no runs, if their lengths differ, or if the two ends of a line
  ///          have different numbers of runs: shorter runs would then leave messages without a
  ///          receiver
  static std::optional<LongRuns> find(const EventJob& job);

  [[nodiscard]] std::int32_t length() const { return length_; }

  /// Returns the job with runs of `length` steps. Requires chunks that count as equal.
  [[nodiscard]] EventJob shortened(const EventJob& job, std::int32_t length) const;

 private:
  explicit LongRuns(std::int32_t length) : length_(length) {}
  std::int32_t length_;
};

}  // namespace ringside
