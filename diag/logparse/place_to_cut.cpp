#include "diag/logparse/place_to_cut.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "diag/logparse/byte_source.h"
#include "diag/logparse/parse_logs.h"

namespace ringside::logs {
namespace {

constexpr std::size_t kBlock = 64 << 10;

/// A line inside of JSON that is spread over many: it has a key and leaves something open, or is made of
/// numbers and brackets.
bool is_inside_json(std::string_view line) {
  const std::size_t last = line.find_last_not_of(" \t\r");
  if (last == std::string_view::npos) return false;
  line = line.substr(0, last + 1);
  const std::size_t first = line.find_first_not_of(" \t");
  line.remove_prefix(first);
  if (line.find("\":") != std::string_view::npos) {
    const bool is_whole = line.back() == '}' && line.find('{') != std::string_view::npos;
    return !is_whole;
  }
  return line.find_first_not_of("0123456789.+-eE,[]{}") == std::string_view::npos;
}

}  // namespace

std::uint64_t place_to_cut(const std::string& file, std::uint64_t wanted) {
  constexpr int kClear = 32;  // lines of other ranks may stand between those of a report
  auto source = open_source(file, wanted);
  if (!source) return wanted;
  std::vector<char> buffer;
  std::uint64_t at = wanted;  // of the buffer in the file
  std::uint64_t clear_from = wanted;
  int clear = 0;
  bool is_first = true;  // the line that `wanted` is in belongs to the part before
  while (at - wanted < kMaxReport) {
    const std::size_t carried = buffer.size();
    if (carried > kMaxLine) return wanted;
    buffer.resize(carried + kBlock);
    const auto got = (*source)->read({buffer.data() + carried, kBlock});
    if (!got || *got == 0) return clear_from;
    buffer.resize(carried + *got);
    std::string_view rest(buffer.data(), buffer.size());
    for (std::size_t end; (end = rest.find('\n')) != std::string_view::npos;) {
      const std::string_view line = rest.substr(0, end);
      rest.remove_prefix(end + 1);
      if (!is_first && is_inside_json(line)) {
        clear = 0;
        clear_from = at + static_cast<std::uint64_t>(rest.data() - buffer.data());
      } else if (++clear >= kClear) {
        return clear_from;
      }
      is_first = false;
    }
    const std::size_t done = buffer.size() - rest.size();
    buffer.erase(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(done));
    at += done;
  }
  return wanted;
}

}  // namespace ringside::logs
