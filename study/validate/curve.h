#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/vocabulary.h"
#include "ringside/units.h"

namespace ringside::study {

/// A time for each size, for one variant.
struct Curve {
  struct Point {
    Bytes bytes;
    Seconds time{0};
    BytesPerSecond busbw;
    bool is_pick = false;  ///< of a grid: the choice at this size
  };
  std::string name;                                        ///< "ring ll128", "in place"
  bool is_second = false;                                  ///< of two: in place, NCCL's own model
  std::optional<std::pair<Algorithm, Protocol>> way = {};  ///< of a grid
  std::vector<Point> points = {};
};

}  // namespace ringside::study
