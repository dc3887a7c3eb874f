#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/vocabulary.h"
#include "ringside/units.h"

namespace ringside::study {

/// The times of one variant, by size.
struct Curve {
  struct Point {
    Bytes bytes;
    Seconds time{0};
    BytesPerSecond busbw;
    bool is_pick = false;  ///< grid only: NCCL's choice at this size
  };
  std::string name;  ///< "ring ll128", "in place"
  /// The secondary of two curves: in place, or NCCL's own model.
  bool is_secondary = false;
  std::optional<std::pair<Algorithm, Protocol>> choice = {};  ///< grid only
  std::vector<Point> points = {};
};

}  // namespace ringside::study
