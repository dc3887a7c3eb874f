#include "engine/debuglog/words.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace ringside {

DebugWords::DebugWords(std::string_view text) : is_inverse(text.starts_with('^')) {
  if (is_inverse) text.remove_prefix(1);
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    std::string& word = list.emplace_back(text.substr(0, comma));
    std::ranges::transform(word, word.begin(),
                           [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
}

DebugLevel level_named(std::string_view word) {
  constexpr std::array<std::pair<std::string_view, DebugLevel>, 5> kLevels{
      {{"VERSION", DebugLevel::Version},
       {"WARN", DebugLevel::Warn},
       {"INFO", DebugLevel::Info},
       {"ABORT", DebugLevel::Abort},
       {"TRACE", DebugLevel::Trace}}};
  for (const auto& [name, level] : kLevels) {
    if (word == name) return level;
  }
  return DebugLevel::None;
}

}  // namespace ringside
