#include "diag/logparse/frame_line.h"

#include <algorithm>
#include <array>

#include "diag/logparse/cursor.h"

namespace ringside::logs {
namespace {

// The forms of a frame that tools print come first, then the forms that people and scripts write in one line.

/// A longer line is no stack, and would be searched for every separator. Twenty frames with long paths fit.
constexpr std::size_t kLongestLine = 2048;

std::optional<std::int64_t> whole_number(std::string_view text) {
  Cursor cursor(text);
  std::int64_t number = 0;
  if (!is_digit(cursor.peek()) || !cursor.number(number) || !cursor.is_done()) return std::nullopt;
  return number;
}

/// `train.py:12` -> file and line.
bool source_line(std::string_view text, FrameLine& frame) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 >= text.size()) return false;
  const auto number = whole_number(text.substr(colon + 1));
  const std::string_view file = text.substr(0, colon);
  if (!number || contains(file, ' ') || !contains(file, '.')) return false;
  frame.file = file;
  frame.line = *number;
  return true;
}

/// `name (file.py:12)`, `name (libnccl.so.2)`, `0x7f00 (libcuda.so.1)`
bool py_spy_frame(std::string_view text, FrameLine& frame) {
  if (!text.ends_with(')')) return false;
  const std::size_t open = text.rfind(" (");
  if (open == std::string_view::npos || open == 0) return false;
  const std::string_view inside = text.substr(open + 2, text.size() - open - 3);
  frame.function = text.substr(0, open);
  // A function is one word, or a C++ name with its arguments.
  const bool is_word = !contains(frame.function, ' ') || contains(frame.function, "::") ||
                       contains(frame.function, '(');
  if (!is_word || frame.function.ends_with(':') || frame.function.ends_with(',')) return false;
  if (source_line(inside, frame)) return true;
  frame.file = inside;
  return contains(inside, ".so") && !contains(inside, ' ');
}

/// `File "train.py", line 12 in main`
bool python_frame(std::string_view text, FrameLine& frame) {
  constexpr std::string_view kFile = "File \"";
  constexpr std::string_view kLine = "\", line ";
  constexpr std::string_view kPystack = "(Python) ";
  if (text.starts_with(kPystack)) text.remove_prefix(kPystack.size());
  if (!text.starts_with(kFile)) return false;
  const std::size_t end = text.find(kLine);
  if (end == std::string_view::npos) return false;
  std::string_view rest = text.substr(end + kLine.size());
  const std::size_t digits = rest.find_first_not_of("0123456789");
  if (digits == 0 || digits == std::string_view::npos) return false;
  const auto number = whole_number(rest.substr(0, digits));
  rest.remove_prefix(digits);
  if (!number || !rest.starts_with(" in ")) return false;
  frame.file = text.substr(kFile.size(), end - kFile.size());
  frame.line = *number;
  frame.function = rest.substr(4);
  return true;
}

/// `#3  0x00007f00 in poll () from /lib/libc.so.6`, `#4 main () at main.c:12`, `#2 buggy from mismatch.py:8`
bool gdb_frame(std::string_view text, FrameLine& frame) {
  if (text.size() < 4 || text[0] != '#' || !is_digit(text[1])) return false;
  std::string_view rest = text.substr(1);
  const std::size_t digits = rest.find_first_not_of("0123456789");
  constexpr std::size_t kMostDigits = 4;  // deeper stacks are not real
  if (digits == std::string_view::npos || digits > kMostDigits || rest[digits] != ' ') return false;
  rest = trimmed_left(rest.substr(digits));
  if (rest.starts_with("0x")) {
    const std::size_t in = rest.find(" in ");
    if (in == std::string_view::npos) return false;
    rest.remove_prefix(in + 4);
  }
  if (rest.empty()) return false;
  frame.function = rest.substr(0, rest.find_first_of(" ("));
  const std::size_t from = rest.rfind(" from ");
  const std::size_t at = rest.rfind(" at ");
  if (from != std::string_view::npos) {
    if (!source_line(rest.substr(from + 6), frame)) frame.file = rest.substr(from + 6);
    return true;
  }
  if (at != std::string_view::npos) return source_line(rest.substr(at + 4), frame);
  return contains(rest, '(');
}

/// `sync_buffers at /app/models/splatting.py:650`
bool recorded_frame(std::string_view text, FrameLine& frame) {
  const std::size_t at = text.find(" at ");
  if (at == std::string_view::npos || at == 0) return false;
  frame.function = text.substr(0, at);
  const std::string_view behind = text.substr(at + 4);
  return !contains(frame.function, ' ') && contains(behind, ".py:") && source_line(behind, frame);
}

/// `train.py:120 in step`, `train.py:120 step`
bool place_first(std::string_view text, FrameLine& frame) {
  const std::size_t blank = text.find(' ');
  if (blank == std::string_view::npos || !source_line(text.substr(0, blank), frame)) return false;
  std::string_view function = trimmed(text.substr(blank));
  if (function.starts_with("in ")) function = trimmed(function.substr(3));
  frame.function = function;
  return !function.empty() && !contains(function, ' ');
}

bool is_function(std::string_view text) {
  return !text.empty() && (is_letter(text.front()) || text.front() == '_' || text == "<module>") &&
         !contains(text, '=') && (!contains(text, ' ') || text.ends_with(')'));
}

/// Reads a frame of a stack in a line: in full, or a function's name alone.
/// returns  whether the frame is in full
bool frame_in_line(std::string_view part, FrameLine& frame) {
  frame = {};
  if (py_spy_frame(part, frame)) return true;
  frame = {};
  if (place_first(part, frame)) return true;
  frame = {};
  frame.function = part;
  return false;
}

bool begins_with_rank(std::string_view text) {
  return text.starts_with("rank") || text.starts_with("Rank") || text.starts_with("[rank");
}

/// Returns where a frame in full, at the end of the part, begins; npos: the part has no such frame.
std::size_t full_frame_at(std::string_view part) {
  FrameLine frame;
  if (const std::size_t open = part.rfind(" ("); open != std::string_view::npos && open > 0) {
    const std::size_t at = part.rfind(' ', open - 1) + 1;  // npos + 1 is the line's beginning
    if (py_spy_frame(part.substr(at), frame)) return at;
  }
  for (std::size_t word = 0; word < part.size();) {
    frame = {};
    if (place_first(part.substr(word), frame)) return word;
    const std::size_t blank = part.find(' ', word);
    if (blank == std::string_view::npos) break;
    word = blank + 1;
  }
  return std::string_view::npos;
}

/// Returns where the first frame of a line begins, after the name that precedes it.
/// returns  npos: the part does not end with a frame
std::size_t frame_at(std::string_view part) {
  const std::size_t at = full_frame_at(part);
  if (at == std::string_view::npos) {
    // `rank 0: all_reduce <- step (train.py:88)`: the innermost has no file.
    const std::size_t behind = part.rfind(": ");
    const bool is_bare = begins_with_rank(part) && behind != std::string_view::npos &&
                         is_function(part.substr(behind + 2)) &&
                         part.find(' ', behind + 2) == std::string_view::npos;
    return is_bare ? behind + 2 : at;
  }
  // `rank3:poll (selectors.py:416)`
  const std::size_t colon = part.find(':', at);
  const bool is_glued = part.substr(at).starts_with("rank") && colon != std::string_view::npos &&
                        is_digit(part[colon - 1]);
  return is_glued ? colon + 1 : at;
}

/// Returns whether the text before a frame names a process, and is not part of a sentence.
bool is_label(std::string_view text) {
  constexpr std::size_t kLongest = 60;  // a longer text is a sentence
  text = trimmed(text);
  if (text.empty()) return true;
  const char end = text.back();
  return text.size() <= kLongest &&
         (end == ':' || end == ']' || end == ')' || end == '|' || end == '-' || is_digit(end) ||
          (end == ',' && text.starts_with("rank")));
}

/// The separators of the frames in a line, in the order in which they are tried. ` > ` and ` / ` are used for both orders
/// of frames.
constexpr auto kSeparators = std::to_array<std::string_view>(
    {" <- ", " \u2190 ", " < ", " -> ", " \u2192 ", " > ", " => ", " / ", " | ", "; ", ", "});

/// Returns whether programs usually start in this function, which shows the order of the frames.
bool is_outermost(const FrameLine& frame) {
  return frame.function == "main" || frame.function == "<module>" || frame.function == "train" ||
         frame.function == "run";
}

/// `rank 0: all_reduce (a.py:1) step (b.py:2)`; one frame alone needs a rank's name before it.
std::optional<LineStack> stack_without_arrows(std::string_view text) {
  LineStack stack;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t close = rest.find(") ");
    const std::string_view part = rest.substr(0, close == rest.npos ? rest.size() : close + 1);
    const std::size_t at = stack.frames.empty() ? frame_at(part) : 0;
    FrameLine frame;
    if (at == std::string_view::npos || !frame_in_line(part.substr(at), frame)) return std::nullopt;
    if (stack.frames.empty()) stack.label = trimmed(part.substr(0, at));
    if (!is_label(stack.label)) return std::nullopt;
    stack.frames.push_back(frame);
    rest = trimmed_left(rest.substr(part.size()));
  }
  if (stack.frames.empty()) return std::nullopt;
  const bool is_named =
      begins_with_rank(stack.label) && stack.label.find_first_of("0123456789") != text.npos;
  if (stack.frames.size() < 2 && !is_named) return std::nullopt;
  return stack;
}

/// Returns whether a separator is an arrow, and not a sign that has many other uses in sentences.
bool is_arrow(std::string_view separator) {
  // The second byte of a Unicode arrow is not ASCII.
  return separator.find_first_not_of(" <->=") == std::string_view::npos ||
         static_cast<unsigned char>(separator[1]) > 127;
}

/// Reads a stack whose frames have this separator between them.
/// returns  nothing if the line has anything else than frames and names of functions between the separators, or too
///          few frames in full, as a sentence with the same separator has
std::optional<LineStack> stack_with(std::string_view separator, std::string_view text) {
  LineStack stack;
  std::size_t full_frames = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    std::string_view part = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + separator.size(), text.size()));
    if (stack.frames.empty()) {
      const std::size_t at = frame_at(part);
      if (at == std::string_view::npos || !is_label(part.substr(0, at))) return std::nullopt;
      stack.label = trimmed(part.substr(0, at));
      part.remove_prefix(at);
    }
    FrameLine frame;
    const bool is_full = frame_in_line(part, frame);
    // In `main (train.py:133)   <- it hangs here` the text after the arrow is a comment.
    if (!is_full && !is_function(part)) return std::nullopt;
    full_frames += is_full ? 1U : 0U;
    stack.frames.push_back(frame);
  }
  const std::size_t least_full = is_arrow(separator) ? 1 : 2;
  if (stack.frames.size() < 2 || full_frames < least_full) return std::nullopt;
  if (is_outermost(stack.frames.front()) && !is_outermost(stack.frames.back()))
    std::reverse(stack.frames.begin(), stack.frames.end());
  return stack;
}

}  // namespace

std::optional<LineStack> parse_stack_in_line(std::string_view text) {
  if (text.size() > kLongestLine || !contains(text, '.')) return std::nullopt;
  for (const std::string_view separator : kSeparators) {
    if (!contains(text, separator)) continue;
    if (auto stack = stack_with(separator, text)) return stack;
  }
  return stack_without_arrows(text);
}

bool is_stack_in_line(std::string_view text) { return parse_stack_in_line(text).has_value(); }

bool parse_frame(std::string_view text, FrameLine& frame) {
  frame = {};
  constexpr std::size_t kShortest = 5;  // characters of a frame
  if (text.size() < kShortest || text.size() > kLongestLine || is_stack_in_line(text)) return false;
  // Removes a comment after a frame.
  for (const std::string_view mark : {"  #", "  <-", "  <=", "  //"}) {
    const std::size_t at = text.find(mark);
    if (at != std::string_view::npos && at > kShortest) text = trimmed_right(text.substr(0, at));
  }
  for (auto* const read : {gdb_frame, python_frame, py_spy_frame, recorded_frame}) {
    if (read(text, frame)) return true;
    frame = {};
  }
  return false;
}

}  // namespace ringside::logs
