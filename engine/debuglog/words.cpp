#include "engine/debuglog/words.h"

#include <algorithm>
#include <cctype>

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

}  // namespace ringside
