#include "study/calls.h"

#include "base/text.h"

namespace ringside::study {

Result<Calls> parse_calls(const CallWords& words) {
  Calls calls;
  RINGSIDE_TRY(calls.collective, parse_collective(words.collective));
  RINGSIDE_TRY(calls.type, parse_data_type(words.type));
  RINGSIDE_TRY(calls.op, parse_redop(words.op));
  RINGSIDE_TRY(calls.sizes, parse_size_range(words.sizes));
  return calls;
}

}  // namespace ringside::study
