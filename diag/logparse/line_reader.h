#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
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

/// Returns the length in bytes up to which a line is kept whole, by its first character: kMaxReport for `{`, else
/// kMaxLine. Of longer lines kMaxLine bytes are kept.
std::size_t longest_from(char first);

/// Splits bytes into lines and passes them to a parser. Uses one block of memory, which grows only for a JSON report in
/// one line.
///
/// Threads  one
class LineReader {
 public:
  LineReader();

  /// Reads a source to the end of the range and flushes the parser. Call parser.begin() first.
  ///
  /// source    positioned one byte before range.begin, or at 0 if range.begin is 0
  /// progress  called with the size of each block; returns false to stop
  /// lines     set to the number of lines
  /// errors    those of the source; Aborted: progress() returned false. The lines before the error were parsed
  Status read(ByteSource& source, LineRange range, LineParser& parser,
              const std::function<bool(std::size_t)>& progress, std::uint64_t& lines);

  /// Parses the whole lines of a growing text. The first has line number `first`.
  /// lines    set to the number of lines
  /// returns  the size of the whole lines in bytes
  std::size_t parse_whole_lines(std::span<char> text, LineParser& parser, std::uint64_t first,
                                std::uint64_t& lines);

 private:
  std::vector<std::uint32_t> ends_;
};

}  // namespace ringside::logs
