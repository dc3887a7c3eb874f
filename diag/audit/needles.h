#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace ringside::audit {

/// Finds all occurrences of many fixed texts in a line, in one pass over its bytes (Aho-Corasick automaton).
///
/// Threads  any, after construction
class Needles {
 public:
  /// shape  no text is empty; together at most 65535 characters, at most 255 of them distinct
  explicit Needles(std::span<const std::string_view> texts);

  /// Calls found(i) for each occurrence of texts[i] in the line, in the order of their ends.
  template <typename Found>
  void each_in(std::string_view line, Found&& found) const {
    std::uint32_t state = 0;
    for (const char c : line) {
      state = next_[state * nletters_ + letter_of_[static_cast<unsigned char>(c)]];
      if (!is_end_[state]) continue;  // most lines hold none
      for (const std::uint16_t text : ends_[state]) found(text);
    }
  }

 private:
  std::array<std::uint8_t, 256> letter_of_ = {};  ///< by byte; 0: the byte is in no text
  std::size_t nletters_ = 1;
  std::vector<std::uint16_t> next_;               ///< [state][letter]
  std::vector<std::uint8_t> is_end_;              ///< [state]
  std::vector<std::vector<std::uint16_t>> ends_;  ///< [state]: the texts that end there
};

}  // namespace ringside::audit
