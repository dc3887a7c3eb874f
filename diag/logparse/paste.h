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

/// A line, restored to the form in which its program wrote it.
struct RestoredLine {
  std::string text;          ///< with its original indent, without added prefixes
  std::uint32_t number = 0;  ///< number of its first line in the paste, from 0
  std::uint32_t lines = 1;   ///< number of lines of the paste that were joined
  std::string stamp = {};    ///< time that a log collector added in front; empty: none
  std::string host = {};   ///< host named by a label in front or the heading above; empty: unknown
  std::int32_t rank = -1;  ///< rank named by the heading above; -1: unknown
  bool is_gap = false;     ///< an empty line, a fence, `...`

  /// Returns the text with `stamp` in front.
  [[nodiscard]] std::string stamped() const;
};

/// Returns the lines of a paste without decoration (undress.h).
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

/// Returns whether every line begins with a complete NCCL prefix, so that nothing must be restored.
bool is_as_written(std::string_view text);

/// Returns whether the words of a line show the communication stack: NCCL, RCCL, a plugin, verbs, Gloo, c10d, a
/// watchdog.
bool is_of_stack(std::string_view text);

/// Returns whether the text starts with a message of the catalogue, without other words in front.
bool begins_as_message(std::string_view text);

/// Returns whether the line is of the communication stack and reports a problem.
bool is_trouble_of_stack(std::string_view text);

}  // namespace ringside::logs
