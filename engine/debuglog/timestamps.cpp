#include "engine/debuglog/timestamps.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <iomanip>
#include <sstream>
#include <string_view>
#include <utility>

#include "engine/debuglog/words.h"

namespace ringside {
namespace {

constexpr std::size_t kLongestFormat = 255;
constexpr std::uint32_t kAllLevels = ~0U;

/// Returns a bit for each level that the word means; none if the word is unknown.
std::uint32_t levels_of(std::string_view word) {
  if (word == "ALL") return kAllLevels;
  const DebugLevel level = level_named(word);
  return level == DebugLevel::None ? 0 : 1U << static_cast<unsigned>(level);
}

/// Replaces the first `%3f` of the format by digits; strftime formats the other fields.
std::string with_fraction(const std::string& format, std::int32_t nanoseconds) {
  for (std::size_t at = 0; at + 2 < format.size(); ++at) {
    if (format[at] != '%') continue;
    const char digits = format[at + 1];
    if (digits < '1' || digits > '9' || format[at + 2] != 'f') {
      ++at;  // another field, whose second letter may be a percent sign
      continue;
    }
    const std::string all = fmt::format("{:09}", nanoseconds);
    return format.substr(0, at) + all.substr(0, static_cast<std::size_t>(digits - '0')) +
           format.substr(at + 3);
  }
  return format;
}

}  // namespace

Timestamps Timestamps::from(const Environment& environment, Zone zone) {
  Timestamps times(zone);
  if (const auto levels = environment("NCCL_DEBUG_TIMESTAMP_LEVELS")) {
    const DebugWords words(*levels);
    times.levels_ = 0;
    for (const std::string& word : words.list) times.levels_ |= levels_of(word);
    if (words.is_inverse) times.levels_ = ~times.levels_;
  }
  if (auto format = environment("NCCL_DEBUG_TIMESTAMP_FORMAT")) {
    std::ranges::replace(*format, '_', ' ');
    if (format->size() <= kLongestFormat) times.format_ = *std::move(format);
  }
  return times;
}

std::string Timestamps::text(WallTime time) const {
  const std::time_t seconds = time.seconds;
  std::tm parts{};
  if (zone_ == Zone::Utc) {
    ::gmtime_r(&seconds, &parts);
  } else {
    ::localtime_r(&seconds, &parts);
  }
  std::ostringstream text;
  text << std::put_time(&parts, with_fraction(format_, time.nanoseconds).c_str());
  return text.str();
}

}  // namespace ringside
