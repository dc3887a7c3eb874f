#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "diag/hangdetect/readers/call.h"
#include "diag/logparse/record.h"

namespace ringside::hang {

/// A call in a row that somebody made of a rank's dump: its name, how far it is, and what stands between.
struct RowCall {
  Op op = Op::Other;
  bool is_pending = false;
  std::int64_t sequence = -1;  ///< -1: not told
  std::string shape;           ///< `[[4, 2048]]`; empty: not told
};

/// The calls of a row with their states, in its order: `nccl:send 0->1 [[4]], completed, seq 41 nccl:all_reduce [[1]],
/// started`. A call without a state is none.
std::vector<RowCall> calls_in_row(std::string_view text);

/// What a row says of its rank.
struct CallRow {
  std::vector<RowCall> calls;
  std::string text;
  logs::Place place;
  std::string file;  ///< known once everything is read
  std::int64_t line = -1;
};

}  // namespace ringside::hang
