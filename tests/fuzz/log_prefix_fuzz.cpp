#include <cstdint>
#include <string>

#include "base/assert.h"
#include "diag/logparse/nccl_prefix.h"
#include "diag/logparse/torch_prefix.h"
#include "diag/logparse/wrappers.h"

/// Feeds the prefix grammar alone: a prefix that it accepts lies within the line.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside::logs;
  const std::string line(data, data + size);
  for (const bool with_doubtful : {false, true}) {
    const Wrapping wrapping = strip_wrappers(line, with_doubtful);
    RINGSIDE_ASSERT(wrapping.size <= line.size(), "{} of {}", wrapping.size, line.size());
    RINGSIDE_ASSERT(with_doubtful || !wrapping.is_doubtful, "a doubtful tag was taken");
  }
  NcclPrefix prefix;
  if (read_nccl_prefix(line, prefix)) {
    RINGSIDE_ASSERT(prefix.end <= line.size() && prefix.begin == 0, "{} of {}", prefix.end,
                    line.size());
  }
  if (find_nccl_prefix(line, line.size() / 3, prefix)) {
    RINGSIDE_ASSERT(
        prefix.begin >= line.size() / 3 && prefix.begin < prefix.end && prefix.end <= line.size(),
        "{} to {} of {}", prefix.begin, prefix.end, line.size());
  }
  TorchPrefix torch;
  RINGSIDE_ASSERT(read_torch_prefix(line, torch) <= line.size(), "more than the line");
  std::string text;
  std::int64_t time = 0;
  unwrap_json_line(line, text, time);
  return 0;
}
