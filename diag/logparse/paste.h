#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Lines as people paste them into an issue: quoted, indented, in a code fence or a table's column, in colours,
/// wrapped at a terminal's width or manually, with a collector's times and names before them. restore_paste() restores
/// the lines that a program wrote. Every reader of pastes uses it.
namespace ringside::logs {

/// Texts up to this size are normalised before they are parsed: the limit of issue trackers. A larger text is a file.
inline constexpr std::size_t kMaxPaste = 64 << 10;

/// A line as its program wrote it, as far as it can be restored.
struct RestoredLine {
  std::string text;          ///< indented as it was, without what was put before it
  std::uint32_t number = 0;  ///< of its first line in the paste, from 0
  std::uint32_t lines = 1;   ///< of the paste that it is made of
  std::string stamp = {};    ///< the time that a collector put before it; empty where none did
  std::string host = {};     ///< that a label before it named, or the heading above it
  std::int32_t rank = -1;    ///< that the heading above it named
  bool is_gap = false;       ///< an empty line, a fence, `...`

  /// The text with its time, which shows when it was written.
  [[nodiscard]] std::string stamped() const;
};

/// The lines of a paste, without decoration: see undress.h.
///
/// A wrapped line is joined with the next one, if that begins no line of its own, and one of these conditions holds:
///
/// - the page is full: the line is as wide as the text is, or the next word would not have fitted;
///
/// - it was split manually: a line of the stack that reports trouble, and the next one is indented, continues in the
/// middle of a sentence, or completes a known message.
///
/// The variant, terminal or editor, that gives more known phrases wins.
///
/// Lines that hold control characters in their middle stay as they are.
/// Memory  a copy of the text
std::vector<RestoredLine> restore_paste(std::string_view text);

/// Whether every line begins with NCCL's whole prefix: then nothing needs to be restored.
bool is_as_written(std::string_view text);

/// Whether it is a line of NCCL, RCCL, a plugin, verbs, Gloo, c10d or a watchdog, by its words, whatever surrounds
/// it.
bool is_of_stack(std::string_view text);

/// Whether a message of the catalogue begins with its first word, and not after a person's own words.
bool begins_as_message(std::string_view text);

/// Whether it also reports trouble.
bool is_trouble_of_stack(std::string_view text);

}  // namespace ringside::logs
