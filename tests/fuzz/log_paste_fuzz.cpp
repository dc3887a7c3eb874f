#include <algorithm>
#include <cstdint>
#include <string>

#include "base/assert.h"
#include "diag/logparse/bare_prefix.h"
#include "diag/logparse/paste.h"

/// Feeds pastes: each of their lines is contained in one of the restored lines, in order, and the parts read of a
/// prefix lie within it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside::logs;
  constexpr std::size_t kMost = 16 << 10;
  if (size > kMost) return 0;
  const std::string text(data, data + size);
  const auto newlines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  const std::size_t lines = newlines + (text.empty() || text.back() == '\n' ? 0 : 1);
  std::size_t next = 0;
  for (const RestoredLine& line : restore_paste(text)) {
    RINGSIDE_ASSERT(line.number == next && line.lines > 0, "line {} behind {}", line.number, next);
    RINGSIDE_ASSERT(line.text.find('\n') == std::string::npos, "two lines in one");
    next += line.lines;
    NcclPrefix prefix;
    if (!read_bare_prefix(line.text, prefix)) continue;
    RINGSIDE_ASSERT(prefix.end <= line.text.size(), "{} of {}", prefix.end, line.text.size());
  }
  RINGSIDE_ASSERT(next == lines, "{} of {} lines", next, lines);
  return 0;
}
