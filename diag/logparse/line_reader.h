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

/// Bytes up to which a line is whole, by how it begins; of longer ones kMaxLine bytes are kept.
std::size_t longest_from(char first);

/// Cuts bytes into lines and gives them to a parser. One block of memory, which a report as one line makes grow.
///
/// Threads  one
class LineReader {
 public:
  LineReader();

  /// Reads a source, which stands one byte before range.begin (at 0 if that is 0), to the end of the range.
  /// The parser has been told which piece begins; it is flushed.
  ///
  /// progress  called with the bytes of each block; returns false to stop
  /// lines     gets the number of lines
  /// errors    of the source; the lines before it were parsed
  Status read(ByteSource& source, LineRange range, LineParser& parser,
              const std::function<bool(std::size_t)>& progress, std::uint64_t& lines);

  /// Lines of a text that grows: parses the whole ones, from line number `first` on.
  /// returns  bytes of whole lines
  std::size_t parse_whole_lines(std::span<char> text, LineParser& parser, std::uint64_t first,
                                std::uint64_t& lines);

 private:
  std::vector<std::uint32_t> ends_;
};

}  // namespace ringside::logs
