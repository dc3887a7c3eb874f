#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ringside::logs {

/// A line of a paste without decoration, with the values of the removed prefixes.
struct UndressedLine {
  std::string text;   ///< the line with its program's indent
  std::string stamp;  ///< time and stream that a log collector or container runtime added
  std::string host;   ///< host named by a label in front, `n01: `, or the heading above
  /// Width with all prefixes but without quotation marks, as a terminal shows it
  std::size_t columns = 0;
  std::uint32_t quotes = 0;  ///< number of `> ` in front
  bool is_gap = false;       ///< empty, a fence, `...`: omitted lines, or decoration
  bool is_indented = false;  ///< blanks precede it
  bool is_heading = false;   ///< the line names the writer of the following lines
  std::int32_t rank = -1;    ///< rank named by the heading above; -1: unknown
};

/// Removes what collectors, viewers and people add to a program's lines before they are in an issue: colours, quotation
/// marks, code fences, tables' bars, a collector's times and pod names, viewers' numbers, a block's indent. Source and rows
/// of tables that explain (source_text.h) are gaps: no program printed them. Lines below a heading (headings.h) are of
/// the rank or host that it names, up to the next one.
///
/// A text before every line is taken for a label only where most lines have one of its shape. Ranks' own tags
/// (`[rank3]:`, `3: `) stay.
/// returns  one entry for each line of the text
std::vector<UndressedLine> undress(std::string_view paste);

/// Undresses one line: removes colours, `> `, `| a | b |`, fences, backquotes, bullets.
/// returns  empty for a fence
std::string undecorated(std::string_view line);

/// Returns whether the line marks omitted lines or is only decoration.
/// shape  without blanks at its ends
bool is_gap(std::string_view text);

/// Returns the width of a text in characters, as a terminal counts them.
std::size_t columns_of(std::string_view text);

}  // namespace ringside::logs
