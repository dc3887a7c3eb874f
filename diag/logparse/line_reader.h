#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "base/result.h"
#include "diag/logparse/byte_source.h"
#include "diag/logparse/line_parser.h"

namespace ringside::logs {

/// The lines that begin in [begin, end) of a file.
struct LineRange {
  static constexpr std::uint64_t kEnd = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t begin = 0;
  std::uint64_t end = kEnd;
};

/// The number of bytes up to which a line is kept whole, by its first character; of longer ones kMaxLine bytes are
/// kept.
std::size_t longest_from(char first);

/// Cuts bytes into lines and passes them to a parser. Uses one block of memory, which grows for a report in one line.
///
/// Threads  one
class LineReader {
 public:
  LineReader();

  /// Reads a source, which is positioned one byte before range.begin (at 0 if that is 0), to the end of the range.
  /// Call parser.begin() first; the parser is flushed.
  ///
  /// progress  called with the bytes of each block; returns false to stop
  /// lines     gets the number of lines
  /// errors    of the source; the lines before it were parsed
  Status read(ByteSource& source, LineRange range, LineParser& parser,
              const std::function<bool(std::size_t)>& progress, std::uint64_t& lines);

  /// Parses the whole lines of a growing text, from line number `first` on.
  /// returns  bytes of whole lines
  std::size_t parse_whole_lines(std::span<char> text, LineParser& parser, std::uint64_t first,
                                std::uint64_t& lines);

 private:
  std::vector<std::uint32_t> ends_;
};

}  // namespace ringside::logs
