#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Lines as people paste them into an issue: quoted, indented, in a code fence or a table's column, in colours,
/// wrapped at a terminal's width or by hand, with a collector's times and names before them. Here they become the
/// lines that a program wrote. Whoever reads pastes reads them so.
namespace ringside::logs {

/// Texts up to here are mended before they are parsed: what issue trackers take. What is larger is a file.
inline constexpr std::size_t kMaxPaste = 64 << 10;

/// A line as its writer wrote it, as far as that can be told.
struct MendedLine {
  std::string text;          ///< indented as it was, without what was put before it
  std::uint32_t number = 0;  ///< of its first line in the paste, from 0
  std::uint32_t lines = 1;   ///< of the paste that it is made of
  std::string stamp = {};    ///< the time that a collector put before it; empty where none did
  std::string host = {};     ///< that a label before it named, or the heading above it
  std::int32_t rank = -1;    ///< that the heading above it named
  bool is_gap = false;       ///< an empty line, a fence, `...`

  /// With its time, which tells when it was written.
  [[nodiscard]] std::string stamped() const;
};

/// The lines of a paste, without what stands around them: see undress.h.
///
/// A line that somebody broke is joined with what follows, if that begins no line of its own, and one of these is seen:
/// - the page is full: the line is as wide as the text is, or the next word would not have fitted;
/// - it was parted by hand: a line of the stack that tells of trouble, and the next one is indented, goes on in the
///   middle of a sentence, or makes a known message of an unknown one.
/// Whether a terminal or an editor filled the page is told by which of the two makes more sense.
///
/// Lines that hold control characters in their middle stay as they are.
/// Memory  a copy of the text
std::vector<MendedLine> mend_paste(std::string_view text);

/// Every line begins with NCCL's whole prefix: there is nothing to mend.
bool is_as_written(std::string_view text);

/// A line of NCCL, RCCL, a plugin, verbs, Gloo, c10d or a watchdog, told by its words, whatever stands around it.
bool is_of_stack(std::string_view text);

/// A message of the catalogue from its first word on, and not one that stands behind words of somebody's own.
bool begins_as_message(std::string_view text);

/// It also says that something went wrong.
bool is_trouble_of_stack(std::string_view text);

}  // namespace ringside::logs
