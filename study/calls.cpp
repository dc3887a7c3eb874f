#include "study/calls.h"

#include <fmt/format.h>

#include "base/text.h"
#include "base/vocabulary.h"

namespace ringside::study {

Status check_sizes(const std::vector<Bytes>& sizes, DataType type) {
  const Bytes least = size_of(type);
  for (const Bytes size : sizes) {
    if (size.value == 0 || size >= least) continue;
    return Error{
        ErrorCode::InvalidArgument,
        fmt::format("{} B hold no element of {}", size.value, to_string(type)),
        fmt::format("give {} or more, or 0 for a call of nothing (nccl-tests makes 0 of it)",
                    least.value)};
  }
  return {};
}

Result<Calls> parse_calls(const CallWords& words) {
  Calls calls;
  RINGSIDE_TRY(calls.collective, parse_collective(words.collective));
  RINGSIDE_TRY(calls.type, parse_data_type(words.type));
  RINGSIDE_TRY(calls.op, parse_redop(words.op));
  RINGSIDE_TRY(calls.sizes, parse_size_range(words.sizes));
  RINGSIDE_TRY(check_sizes(calls.sizes, calls.type));
  return calls;
}

}  // namespace ringside::study
