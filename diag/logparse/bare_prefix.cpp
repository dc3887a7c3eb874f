#include "diag/logparse/bare_prefix.h"

#include "diag/logparse/cursor.h"

namespace ringside::logs {
namespace {

/// Finds the first `NCCL <level> ` at the start of a word.
/// returns  its place; npos: none
std::size_t find_level(std::string_view text, NcclPrefix& prefix) {
  for (std::size_t at = find_text(text, "CCL "); at != std::string_view::npos;
       at = find_text(text, "CCL ", at + 1)) {
    if (at == 0 || (text[at - 1] != 'N' && text[at - 1] != 'R')) continue;
    const std::size_t begin = at - 1;
    if (begin > 0 && (is_letter(text[begin - 1]) || is_digit(text[begin - 1]))) continue;
    Cursor cursor(text.substr(at + 3));
    Level level = Level::None;
    if (!take_level(cursor, level) || level == Level::Call) continue;
    prefix.level = level;
    prefix.end = static_cast<std::uint32_t>(text.size() - cursor.left());
    return begin;
  }
  return std::string_view::npos;
}

/// Reads `[3]`.
bool device_of(std::string_view word, std::int16_t& device) {
  Cursor cursor(word);
  return cursor.eat('[') && is_digit(cursor.peek()) && cursor.number(device) && cursor.eat(']') &&
         cursor.is_done();
}

/// Returns the host of `node-2`, `host:XXXX`, `host:4711:4712`, `<host>:<pid>:<tid>`; empty: the word is not a host.
std::string_view host_of(std::string_view word, std::int32_t& pid) {
  if (is_source_place(word)) return {};
  const std::size_t colon = word.find(':');
  std::string_view host = word.substr(0, colon);
  if (host.starts_with('<') && host.ends_with('>') && host.size() > 2)
    host = host.substr(1, host.size() - 2);
  if (host.empty() || !is_letter(host.front())) return {};
  for (const char c : host) {
    if (!is_host(c) && c != '*') return {};
  }
  if (colon != std::string_view::npos) {
    Cursor number(word.substr(colon + 1));
    if (!is_digit(number.peek()) || !number.number(pid)) pid = -1;
  }
  return host;
}

/// Accepts `n01:4711:4712` and `n01:XXXX`, and `n01:` at the start of a line. `init_net:210` is a function and its
/// line, and `said:` within a sentence is a word.
bool may_name_host(std::string_view word, bool is_first) {
  const std::size_t colon = word.find(':');
  const std::string_view behind = word.substr(colon + 1);
  if (behind.empty()) return is_first;
  const bool is_number = behind.find_first_not_of("0123456789") == std::string_view::npos;
  return !is_number || !contains(word.substr(0, colon), '_');
}

}  // namespace

bool is_source_place(std::string_view word) {
  const std::size_t colon = word.rfind(':');
  if (colon == std::string_view::npos || colon + 1 == word.size()) return false;
  for (const char c : word.substr(colon + 1)) {
    if (!is_digit(c)) return false;
  }
  const std::string_view file = word.substr(0, colon);
  for (const std::string_view end : {".cc", ".cu", ".h", ".cpp", ".c", ".hpp"}) {
    if (file.size() > end.size() && file.ends_with(end)) return true;
  }
  return false;
}

bool read_bare_prefix(std::string_view text, NcclPrefix& prefix) {
  constexpr std::size_t kNear = 240;  // characters; farther on, a level is part of a sentence
  prefix = {};
  const std::size_t level = find_level(text.substr(0, kNear), prefix);
  if (level == std::string_view::npos) {
    Cursor cursor(text);
    std::string_view word;
    if (cursor.peek() == '[' && cursor.word(word) && device_of(word, prefix.device)) {
      cursor.skip_blanks();
    } else {
      cursor = Cursor(text);
    }
    if (!cursor.word(word) || !is_source_place(word) || !cursor.eat(' ')) return false;
    cursor.skip_blanks();
    if (cursor.rest().starts_with("->")) return false;  // a result, which has its own parser
    prefix.level = Level::None;
    prefix.end = static_cast<std::uint32_t>(text.size() - cursor.left());
    return true;
  }
  // The words before the level: the device is the last one, or precedes the source's place; the host precedes the
  // device.
  Cursor words(text.substr(0, level));
  std::string_view last;
  std::string_view word;
  std::int32_t pid = -1;
  for (words.skip_blanks(); words.word(word); words.skip_blanks()) {
    if (device_of(word, prefix.device)) {
      prefix.host = host_of(last, pid);
    } else if (prefix.host.empty() && contains(word, ':') && may_name_host(word, last.empty())) {
      prefix.host = host_of(word, pid);
    }
    last = word;
  }
  prefix.pid = prefix.host.empty() ? -1 : pid;
  return true;
}

}  // namespace ringside::logs
