#include "diag/logparse/frame_line.h"

#include <optional>

#include "diag/logparse/cursor.h"

namespace ringside::logs {
namespace {

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
  if (!number || file.find(' ') != std::string_view::npos ||
      file.find('.') == std::string_view::npos)
    return false;
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
  const bool is_word = frame.function.find(' ') == std::string_view::npos ||
                       frame.function.find("::") != std::string_view::npos ||
                       frame.function.find('(') != std::string_view::npos;
  if (!is_word || frame.function.ends_with(':') || frame.function.ends_with(',')) return false;
  if (source_line(inside, frame)) return true;
  frame.file = inside;
  return inside.find(".so") != std::string_view::npos && inside.find(' ') == std::string_view::npos;
}

/// `File "train.py", line 12 in main`
bool python_frame(std::string_view text, FrameLine& frame) {
  constexpr std::string_view kFile = "File \"";
  constexpr std::string_view kLine = "\", line ";
  if (text.starts_with("(Python) ")) text.remove_prefix(9);  // pystack
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
  if (digits == std::string_view::npos || digits > 4 || rest[digits] != ' ') return false;
  rest.remove_prefix(rest.find_first_not_of(' ', digits) == std::string_view::npos
                         ? rest.size()
                         : rest.find_first_not_of(' ', digits));
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
  return rest.find('(') != std::string_view::npos;
}

/// `sync_buffers at /app/models/splatting.py:650`
bool recorded_frame(std::string_view text, FrameLine& frame) {
  const std::size_t at = text.find(" at ");
  if (at == std::string_view::npos || at == 0) return false;
  frame.function = text.substr(0, at);
  const std::string_view behind = text.substr(at + 4);
  return frame.function.find(' ') == std::string_view::npos &&
         behind.find(".py:") != std::string_view::npos && source_line(behind, frame);
}

}  // namespace

bool is_stack_in_line(std::string_view text) {
  const std::size_t arrow = text.find(" <- ");
  if (arrow == std::string_view::npos || text.size() > 2048) return false;
  const std::string_view head = trimmed(text.substr(0, arrow));
  const std::string_view behind = trimmed(text.substr(arrow + 4));
  // `main (train.py:133)   <- it hangs here` is a remark.
  const std::string_view caller = behind.substr(0, behind.find(" <- "));
  const bool is_name = !caller.empty() && (is_letter(caller.front()) || caller.front() == '_') &&
                       (caller.find(' ') == std::string_view::npos || caller.ends_with(')'));
  const std::size_t open = head.rfind(" (");
  FrameLine frame;
  return is_name && head.ends_with(')') && open != std::string_view::npos && open > 0 &&
         py_spy_frame(head.substr(head.find_last_of(" :", open - 1) + 1), frame);
}

bool parse_frame(std::string_view text, FrameLine& frame) {
  frame = {};
  if (text.size() < 5 || text.size() > 2048 || is_stack_in_line(text)) return false;
  // What somebody remarks behind a frame.
  for (const std::string_view mark : {"  #", "  <-", "  <=", "  //"}) {
    const std::size_t at = text.find(mark);
    if (at != std::string_view::npos && at > 5) text = trimmed_right(text.substr(0, at));
  }
  for (auto* const read : {gdb_frame, python_frame, py_spy_frame, recorded_frame}) {
    if (read(text, frame)) return true;
    frame = {};
  }
  return false;
}

}  // namespace ringside::logs
