#include "diag/logparse/broken_stacks.h"

#include <cstddef>

#include "diag/logparse/cursor.h"
#include "diag/logparse/frame_line.h"

namespace ringside::logs {
namespace {

/// The number of stack frames in a line that have a place, and whether the last one has.
struct FramesOfLine {
  std::size_t placed = 0;
  bool is_last_placed = false;
};

FramesOfLine frames_of(std::string_view text) {
  FramesOfLine found;
  const auto stack = parse_stack_in_line(text);
  if (!stack) return found;
  for (const FrameLine& frame : stack->frames) found.placed += frame.file.empty() ? 0U : 1U;
  found.is_last_placed = !stack->frames.back().file.empty();
  return found;
}

}  // namespace

bool begin_alike(std::string_view a, std::string_view b) {
  constexpr std::size_t kEnough = 8;
  a = trimmed_left(a);
  b = trimmed_left(b);
  if (a.size() < kEnough || b.size() < kEnough) return false;
  std::size_t letters = 0;
  for (std::size_t i = 0; i < kEnough; ++i) {
    if (is_digit(a[i]) && is_digit(b[i])) continue;
    if (a[i] != b[i]) return false;
    letters += is_letter(a[i]) ? 1U : 0U;
  }
  return letters > 2;
}

std::optional<std::string> joined_stack(std::string_view line, std::string_view next, bool is_full,
                                        bool is_terminal) {
  constexpr std::size_t kLongest = 1'024;
  if (line.find('(') == line.npos && line.find(".py") == line.npos) return std::nullopt;
  if (line.size() > kLongest || next.size() > kLongest || begin_alike(line, next))
    return std::nullopt;
  const std::string_view own = trimmed(next);
  const bool is_arrow = own.starts_with("<- ") || own.starts_with("-> ") || own.starts_with("> ") ||
                        own.starts_with("\u2190 ") || own.starts_with("\u2192 ");
  const bool is_open = line.ends_with("<-") || line.ends_with("->") || line.ends_with(" >") ||
                       line.ends_with("\u2190") || line.ends_with("\u2192");
  const bool has_arrow = is_arrow || is_open || line.find(" <- ") != line.npos ||
                         line.find(" > ") != line.npos || line.find(" -> ") != line.npos ||
                         line.find(" \u2190 ") != line.npos;
  if (!has_arrow || (!is_arrow && !is_open && !is_full)) return std::nullopt;
  // A line that begins with its own name belongs to another process.
  const auto alone = parse_stack_in_line(own);
  if (alone && !alone->label.empty() && !is_arrow) return std::nullopt;
  const std::size_t before = frames_of(line).placed;
  for (const std::string_view between : {"", " "}) {
    if (between.empty() && (is_arrow || is_open || !is_full || !is_terminal)) continue;
    std::string joined = std::string(line) + std::string(between) + std::string(own);
    const FramesOfLine after = frames_of(joined);
    if (after.placed > before && after.is_last_placed) return joined;
  }
  return std::nullopt;
}

}  // namespace ringside::logs
