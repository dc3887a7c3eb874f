#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "diag/hangdetect/readers/call.h"
#include "diag/hangdetect/readers/dump_keys.h"

/// Helpers of the formats that are lines of text.
namespace ringside::recordings {

inline constexpr std::size_t kMostCalls = 20'000'000;  ///< of a file; further ones are not read
inline constexpr double kLatestUs = 4e15;              ///< since 1970; a later time is no time

/// Returns the text before `end`, and removes it with `end` from `text`.
inline std::string_view take_until(std::string_view& text, char end) {
  const std::size_t at = std::min(text.find(end), text.size());
  const std::string_view part = text.substr(0, at);
  text.remove_prefix(std::min(text.size(), at + 1));
  return part;
}

inline std::int64_t whole_or(std::string_view text, std::int64_t otherwise) {
  return hang::parse_whole(text).value_or(otherwise);
}

inline int rank_or_none(std::int64_t rank) {
  return rank >= 0 && rank < hang::kMostRanks ? static_cast<int>(rank) : -1;
}

/// Passes each line to `reader.take()`, and returns `reader.finish()`.
template <typename Reader>
auto read_lines(std::string_view text, Reader reader) {
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    if (line.ends_with('\r')) line.remove_suffix(1);
    reader.take(line);
  }
  return reader.finish();
}

}  // namespace ringside::recordings
