#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "engine/tuning/select.h"
#include "ringside/units.h"

namespace ringside::study {

/// Parameters of collective calls, as an option or a file has them.
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

/// A size other than 0 without room for one element would be an empty call.
/// errors  InvalidArgument: there is such a size; the smallest valid one is named
Status check_sizes(const std::vector<Bytes>& sizes, DataType type);

/// errors  InvalidArgument: as check_sizes(); an unknown word, the nearest is named; as parse_size_range()
Result<Calls> parse_calls(const CallWords& words);

}  // namespace ringside::study
