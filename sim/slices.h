#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/tuning/choice.h"
#include "ringside/units.h"

namespace ringside {

/// The slices of a chunk. A rank forwards slices that have arrived while the rest still arrives, so
/// a ring does not idle for the latency of each step.
/// source  NCCL 2.30.7, collectives.h: Simple rings of the long collectives use chunks of 4 slots
///         and slices of 2; elsewhere a chunk is one slice; prims_simple.h: a slice is a multiple
///         of 16 elements, and at least a 32nd of its slots
class Slices {
 public:
  explicit Slices(const Choice& choice, Bytes element)
      : count_(is_cut(choice) ? 2 : 1),
        slots_(std::max(choice.slots_per_chunk / count_, 1)),
        least_(static_cast<std::int64_t>(choice.slot.value) * slots_ / 32 /
               static_cast<std::int64_t>(element.value)) {}

  /// Returns the number of slots that each slice takes, whatever its length.
  [[nodiscard]] int slots() const { return slots_; }

  /// Returns the elements of the next slice of a chunk of `count` elements, of which `left` remain.
  [[nodiscard]] std::int64_t next(std::int64_t count, std::int64_t left) const {
    if (count_ == 1) return left;
    const std::int64_t grain = std::int64_t{16} * count_;
    const std::int64_t even = (count + grain - 1) / grain * 16;
    return std::min(std::max(even, least_), left);
  }

  /// Returns the number of slices of a chunk of `count` elements.
  [[nodiscard]] std::int64_t of(std::int64_t count) const {
    std::int64_t slices = 0;
    for (std::int64_t left = count; left > 0; left -= next(count, left)) ++slices;
    return slices;
  }

 private:
  static bool is_cut(const Choice& choice) {
    const bool is_long = choice.collective == Collective::AllReduce ||
                         choice.collective == Collective::AllGather ||
                         choice.collective == Collective::ReduceScatter;
    return is_long && choice.algorithm == Algorithm::Ring && choice.protocol == Protocol::Simple;
  }

  int count_;
  int slots_;
  std::int64_t least_;
};

}  // namespace ringside
