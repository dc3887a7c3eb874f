#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Lines as people paste them into an issue: quoted, indented, in a code fence or a table's column, in colours,
/// wrapped at a terminal's width or by hand. Here they become the lines that a program wrote.
namespace ringside::logs {

/// Texts up to here are mended before they are parsed: what issue trackers take. What is larger is a file.
inline constexpr std::size_t kMaxPaste = 64 << 10;

/// A line as its writer wrote it, as far as that can be told.
struct MendedLine {
  std::string text;
  std::uint32_t number = 0;  ///< of its first line in the paste, from 0
  std::uint32_t lines = 1;   ///< of the paste that it is made of
};

/// What is around a line taken off it: colours, `> `, `| a | b |`, fences, backquotes, bullets.
/// returns  empty for a fence
std::string undecorated(std::string_view line);

/// The lines of a paste. A line that somebody wrapped is joined with what follows where three things come together:
/// it is a line of the communication stack, what follows begins no line of its own, and one of these is seen: the
/// line is as long as a terminal is wide, the next word would not have fitted, or it was parted by hand (the next one
/// is indented, goes on in the middle of a sentence, or makes a known message of an unknown one).
/// shape  at most kMaxPaste bytes; lines that hold up to here stay as they are, control characters and all
std::vector<MendedLine> mend_paste(std::string_view text);

/// Every line begins with NCCL's whole prefix: there is nothing to mend.
bool is_as_written(std::string_view text);

/// A line of NCCL, RCCL, a plugin, verbs, Gloo, c10d or a watchdog, told by its words, whatever stands around it.
bool is_of_stack(std::string_view text);

/// It also says that something went wrong.
bool is_trouble_of_stack(std::string_view text);

}  // namespace ringside::logs
