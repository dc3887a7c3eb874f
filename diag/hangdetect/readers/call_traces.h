#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "diag/logparse/record.h"

namespace ringside::hang {

/// The last two calls that each rank's own trace names: lines of the program's, in which a collective stands.
class CallTraces {
 public:
  struct Call {
    std::string text;  ///< without times, numbers and states
    logs::Place place;
  };

  /// shape  rank >= 0; `text` is what stands behind the rank's name
  void take(int rank, std::string_view text, logs::Place place);

  /// Two ranks whose last two calls are the same two, in opposite order; -1: there are none.
  struct Crossed {
    int first = -1, second = -1;
    std::array<Call, 2> calls = {};  ///< of the first one
  };
  [[nodiscard]] Crossed crossed() const;

 private:
  std::map<int, std::array<Call, 2>> last_;
};

}  // namespace ringside::hang
