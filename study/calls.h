#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "engine/tuning/select.h"
#include "ringside/units.h"

namespace ringside::study {

/// Unparsed parameters of collective calls, from an option or a file.
struct CallWords {
  std::string collective;
  std::string sizes = "8:8G:2";  ///< as parse_size_range() takes it
  std::string type = "float";
  std::string op = "sum";
};

/// A collective and the sizes to examine.
struct Calls {
  Collective collective = Collective::AllReduce;
  DataType type = DataType::Float32;
  RedOp op = RedOp::Sum;
  std::vector<Bytes> sizes;  ///< size of the larger of one rank's buffers; at least one entry

  [[nodiscard]] TuningCall at(Bytes size) const {
    return {.collective = collective, .bytes = size, .type = type, .op = op};
  }
};

/// Checks that each size is 0 or has room for at least one element.
/// errors  InvalidArgument: a smaller size; the message names the smallest valid one
Status check_sizes(const std::vector<Bytes>& sizes, DataType type);

/// errors  InvalidArgument: as check_sizes() and parse_size_range(); an unknown word, with the
///         nearest known one
Result<Calls> parse_calls(const CallWords& words);

}  // namespace ringside::study
