#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "engine/tuning/select.h"
#include "ringside/units.h"

namespace ringside::study {

/// Which collective calls, in the words of an option or a file.
struct CallWords {
  std::string collective;
  std::string sizes = "8:8G:2";  ///< parse_size_range()
  std::string type = "float";
  std::string op = "sum";
};

/// One collective in several sizes.
struct Calls {
  Collective collective = Collective::AllReduce;
  DataType type = DataType::Float32;
  RedOp op = RedOp::Sum;
  std::vector<Bytes> sizes;  ///< of the larger of one rank's buffers; at least one

  [[nodiscard]] TuningCall at(Bytes size) const {
    return {.collective = collective, .bytes = size, .type = type, .op = op};
  }
};

/// A size that is not 0 and has no room for one element would be a call of nothing.
/// errors  InvalidArgument: there is one; the smallest that has is named
Status check_sizes(const std::vector<Bytes>& sizes, DataType type);

/// errors  InvalidArgument: as check_sizes(); a word that is none, the nearest is named; as parse_size_range()
Result<Calls> parse_calls(const CallWords& words);

}  // namespace ringside::study
