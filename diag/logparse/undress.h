#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ringside::logs {

/// A line of a paste, and what was added before it.
struct UndressedLine {
  std::string text;   ///< indented as its program wrote it
  std::string stamp;  ///< a collector's time, and what a container's runtime puts after it
  std::string host;   ///< that a label before it names, `n01` of `n01: `, or the heading above it
  std::size_t columns =
      0;  ///< width with all of that, without quotation marks, as a page or a terminal shows it
  std::uint32_t quotes = 0;  ///< `> ` before it
  bool is_gap = false;       ///< empty, a fence, `...`: omitted lines, or decoration
  bool is_indented = false;  ///< blanks precede it
  bool is_heading = false;   ///< it names the writer of the following lines
  std::int32_t rank = -1;    ///< named by the heading above it
};

/// Removes what is added to the lines of a text between a program and a thread: colours, quotation marks, code
/// fences, tables' bars, a collector's times and pod names, viewers' numbers, a block's indent. Source and rows of
/// tables that explain (source_text.h) are gaps: no program printed them. Lines below a heading (headings.h) are of
/// the rank or host that it names, up to the next one.
///
/// A text before every line is taken for a label only where most lines have one of its shape. Ranks' own tags
/// (`[rank3]:`, `3: `) stay.
/// returns  as many as the text has lines
std::vector<UndressedLine> undress(std::string_view paste);

/// Undresses one line: removes colours, `> `, `| a | b |`, fences, backquotes, bullets.
/// returns  empty for a fence
std::string undecorated(std::string_view line);

/// Whether the line marks omitted lines, or only decorates a paste.
/// shape  without blanks at its ends
bool is_gap(std::string_view text);

/// Characters as a terminal counts them.
std::size_t columns_of(std::string_view text);

}  // namespace ringside::logs
