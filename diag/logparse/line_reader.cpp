#include "diag/logparse/line_reader.h"

#include <algorithm>

#include "diag/logparse/blocks.h"
#include "diag/logparse/newlines.h"

namespace ringside::logs {

std::size_t longest_from(char first) { return first == '{' ? kMaxReport : kMaxLine; }

LineReader::LineReader() : ends_(Blocks::kMost) {}

Status LineReader::read(ByteSource& source, LineRange range, LineParser& parser,
                        const std::function<bool(std::size_t)>& progress, std::uint64_t& lines) {
  std::uint64_t block_at = range.begin > 0 ? range.begin - 1 : 0;  // of the file
  const std::unique_ptr<Blocks> blocks = source.blocks();
  std::size_t carried = 0;  // bytes of an incomplete line
  bool is_odd = false;
  bool is_dropped = range.begin > 0;  // the current line belongs to another range, or is too long
  bool is_foreign = is_dropped;
  lines = 0;
  for (;;) {
    const std::span<const char> block = blocks->next(carried);
    const std::size_t size = block.size();
    const char* const data = block.data() - carried;
    if (size == 0) {
      if (carried > 0 && !is_dropped && block_at - carried < range.end) {
        parser.counts().bytes += carried;
        parser.parse({data, carried}, static_cast<std::uint32_t>(lines), is_odd, false);
        ++lines;
      }
      parser.flush();
      return blocks->status();
    }
    const std::size_t count = find_line_ends(data + carried, size, ends_.data(), is_odd);
    std::span<const std::uint32_t> ends(ends_.data(), count);
    std::size_t begin = 0;
    const auto end_of = [&](std::size_t i) { return carried + (ends[i] & ~kOddLine); };
    if (is_dropped && !ends.empty()) {
      is_dropped = false;
      if (!is_foreign) ++lines;
      is_foreign = false;
      begin = end_of(0) + 1;
      ends = ends.subspan(1);
    }
    // Counts the lines that begin in the range.
    const auto is_inside = [&](std::size_t at) { return block_at - carried + at < range.end; };
    std::size_t mine = ends.size();
    while (mine > 0 && !is_inside(mine > 1 ? end_of(mine - 2) + 1 : begin)) --mine;
    if (mine > 0) {
      const std::size_t next = end_of(mine - 1) + 1;
      parser.counts().bytes += next - begin;
      parser.parse_lines(data + begin, data + carried, ends.first(mine),
                         static_cast<std::uint32_t>(lines));
      lines += mine;
      begin = next;
    }
    if (mine < ends.size()) {
      parser.flush();
      return {};
    }
    std::size_t left = carried + size - begin;
    const bool is_over = !is_dropped && left > 0 && block_at - carried + begin >= range.end;
    if (!is_dropped && !is_over && left > longest_from(data[begin])) {
      ++parser.counts().overlong;
      parser.counts().bytes += kMaxLine;
      parser.parse({data + begin, kMaxLine}, static_cast<std::uint32_t>(lines), is_odd, true);
      is_dropped = true;
    }
    parser.flush();
    if (is_over) return {};
    if (is_dropped) {
      begin += left;
      left = 0;
    }
    carried = left;
    block_at += size;
    if (!progress(size)) return Error{ErrorCode::Aborted, "stopped"};
  }
}

std::size_t LineReader::parse_whole_lines(std::span<char> text, LineParser& parser,
                                          std::uint64_t first, std::uint64_t& lines) {
  std::size_t begin = 0;
  lines = 0;
  for (std::size_t block = 0; block < text.size(); block += Blocks::kMost) {
    bool is_odd = false;
    const std::size_t size = std::min(Blocks::kMost, text.size() - block);
    const std::size_t count = find_line_ends(text.data() + block, size, ends_.data(), is_odd);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t end = block + (ends_[i] & ~kOddLine);
      // A block's first line may have begun in the previous one, whose control characters were not recorded.
      const bool is_line_odd = i == 0 || (ends_[i] & kOddLine) != 0;
      parser.counts().bytes += end + 1 - begin;
      parser.parse({text.data() + begin, end - begin}, static_cast<std::uint32_t>(first + lines),
                   is_line_odd, false);
      ++lines;
      begin = end + 1;
    }
  }
  parser.flush();
  return begin;
}

}  // namespace ringside::logs
