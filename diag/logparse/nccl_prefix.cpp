#include "diag/logparse/nccl_prefix.h"

#include "diag/logparse/cursor.h"

namespace ringside::logs {

bool take_level(Cursor& cursor, Level& level) {
  if (cursor.eat(" INFO")) {
    level = Level::Info;
  } else if (cursor.eat(" WARN")) {
    level = Level::Warn;
  } else if (cursor.eat(" TRACE")) {
    level = Level::Trace;
  } else if (cursor.eat(" CALL")) {
    level = Level::Call;
  } else {
    return false;
  }
  return cursor.eat(' ') || cursor.is_done();
}

namespace {

/// Reads `:411:980`, and ` [3]` if it follows.
bool take_numbers(Cursor& cursor, NcclPrefix& prefix) {
  if (!cursor.eat(':') || !is_digit(cursor.peek()) || !cursor.number(prefix.pid) ||
      !cursor.eat(':') || !is_digit(cursor.peek()) || !cursor.number(prefix.tid)) {
    return false;
  }
  const Cursor before = cursor;
  if (!cursor.eat(" [") || !cursor.number(prefix.device) || !cursor.eat(']')) {
    cursor = before;
    prefix.device = -1;
  }
  return true;
}

/// Finds the next ` NCCL <level> ` at or after `from`.
bool find_anchor(std::string_view line, std::size_t from, std::size_t& at, std::size_t& end,
                 Level& level) {
  while ((at = find_text(line, " NCCL ", from)) != std::string_view::npos) {
    Cursor cursor(line.substr(at + 5));
    if (take_level(cursor, level)) {
      end = line.size() - cursor.left();
      return true;
    }
    from = at + 6;
  }
  return false;
}

/// Finds the host:pid:tid that belongs to an anchor: the last one before it; for INFO and CALL, directly before it.
bool find_numbers(std::string_view line, std::size_t from, std::size_t anchor, NcclPrefix& prefix) {
  // A host's name has at most 253 characters, and the place in a source fewer. A longer text is not a prefix, and a
  // long line may contain many anchors.
  constexpr std::size_t kLongest = 1'024;
  if (anchor - from > kLongest) from = anchor - kLongest;
  for (std::size_t at = anchor; at-- > from;) {
    if (line[at] != ':' || at == from || !is_host(line[at - 1]) || at + 1 >= anchor ||
        !is_digit(line[at + 1])) {
      continue;
    }
    Cursor cursor(line.substr(at, anchor - at));
    if (!take_numbers(cursor, prefix)) continue;
    const bool is_loose = prefix.level == Level::Warn || prefix.level == Level::Trace;
    if (is_loose ? prefix.device < 0 || cursor.peek() != ' ' : !cursor.is_done()) continue;
    std::size_t begin = at;
    while (begin > from && is_host(line[begin - 1])) --begin;
    // A host of digits only is the middle of `host:pid:tid:` in a longer text.
    prefix.host = line.substr(begin, at - begin);
    prefix.begin = static_cast<std::uint32_t>(begin);
    return true;
  }
  return false;
}

}  // namespace

bool read_nccl_prefix(std::string_view line, NcclPrefix& prefix) {
  std::size_t colon = 0;
  while (colon < line.size() && is_host(line[colon])) ++colon;
  if (colon == 0) return false;
  Cursor cursor(line.substr(colon));
  if (!take_numbers(cursor, prefix)) return false;
  prefix.host = line.substr(0, colon);
  prefix.begin = 0;
  if (cursor.eat(" NCCL")) {
    if (!take_level(cursor, prefix.level)) return false;
    prefix.end = static_cast<std::uint32_t>(line.size() - cursor.left());
    return true;
  }
  if (prefix.device < 0 || cursor.peek() != ' ') return false;
  std::size_t anchor = 0;
  std::size_t end = 0;
  const std::size_t behind = line.size() - cursor.left();
  if (!find_anchor(line, behind, anchor, end, prefix.level)) return false;
  if (prefix.level != Level::Warn && prefix.level != Level::Trace) return false;
  // Another prefix between them means that this line was cut before its level: the level belongs to the other line.
  NcclPrefix other;
  other.level = prefix.level;
  if (find_numbers(line, behind, anchor, other)) return false;
  prefix.end = static_cast<std::uint32_t>(end);
  return true;
}

bool find_nccl_prefix(std::string_view line, std::size_t from, NcclPrefix& prefix) {
  std::size_t anchor = 0;
  std::size_t end = 0;
  for (std::size_t at = from; find_anchor(line, at, anchor, end, prefix.level); at = end) {
    if (!find_numbers(line, from, anchor, prefix)) continue;
    prefix.end = static_cast<std::uint32_t>(end);
    return true;
  }
  return false;
}

}  // namespace ringside::logs
