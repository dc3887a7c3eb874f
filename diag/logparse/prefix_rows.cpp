#include "diag/logparse/prefix_rows.h"

#include <algorithm>
#include <array>
#include <bitset>

namespace ringside::logs {
namespace {

constexpr PrefixRow kRows[] = {
#define RINGSIDE_PREFIX(pattern, sample, keys) {pattern, sample, keys},
#include "diag/logparse/prefixes.def"
#undef RINGSIDE_PREFIX
};

/// The first characters of the rows: most lines begin with none of them.
const std::bitset<256>& first_characters() {
  static const std::bitset<256> kFirst = [] {
    std::bitset<256> first;
    for (const PrefixRow& row : kRows) first.set(static_cast<unsigned char>(row.pattern.front()));
    return first;
  }();
  return kFirst;
}

std::int32_t* number_of(std::string_view field, Wrapping& wrapping) {
  if (field == "rank:d") return &wrapping.launcher_rank;
  if (field == "local_rank:d") return &wrapping.local_rank;
  return field == "pid:d" ? &wrapping.pid : nullptr;
}

bool take_host(Cursor& cursor, Wrapping& wrapping) {
  const char* const begin = cursor.at();
  while (is_host(cursor.peek())) cursor.skip(1);
  wrapping.host = {begin, static_cast<std::size_t>(cursor.at() - begin)};
  return !wrapping.host.empty();
}

/// Skips to the first character of the following text.
bool take_anything(Cursor& cursor, char stop) {
  constexpr std::size_t kLongest = 80;
  const std::string_view rest = cursor.rest().substr(0, kLongest);
  const std::size_t end = rest.find(stop);
  const std::size_t bracket = rest.find_first_of("[](){}<>");
  if (end == std::string_view::npos || end > bracket) return false;
  cursor.skip(end);
  return true;
}

bool take_row(std::string_view pattern, Cursor& cursor, Wrapping& wrapping) {
  while (!pattern.empty()) {
    const std::size_t open = pattern.find('{');
    if (!cursor.eat(pattern.substr(0, open))) return false;
    if (open == std::string_view::npos) return true;
    const std::size_t close = pattern.find('}', open);
    const std::string_view field = pattern.substr(open + 1, close - open - 1);
    pattern.remove_prefix(close + 1);
    if (field.empty()) {
      if (!take_anything(cursor, pattern.front())) return false;
    } else if (field == "host:h") {
      if (!take_host(cursor, wrapping)) return false;
    } else if (std::int32_t* number = number_of(field, wrapping); number == nullptr) {
      return false;
    } else if (!is_digit(cursor.peek()) || !cursor.number(*number)) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::span<const PrefixRow> prefix_rows() { return kRows; }

bool take_prefix_row(Cursor& cursor, Wrapping& wrapping) {
  if (!first_characters()[static_cast<unsigned char>(cursor.peek())]) return false;
  return std::any_of(std::begin(kRows), std::end(kRows), [&](const PrefixRow& row) {
    Cursor at = cursor;
    Wrapping found = wrapping;
    if (!take_row(row.pattern, at, found)) return false;
    cursor = at;
    wrapping = found;
    return true;
  });
}

}  // namespace ringside::logs
