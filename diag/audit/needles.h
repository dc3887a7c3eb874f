#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace ringside::audit {

/// Finds many fixed texts in a line in one pass over its bytes (Aho and Corasick's automaton).
///
/// Threads  any, after construction
class Needles {
 public:
  /// shape  at most 64 texts, none empty
  explicit Needles(std::span<const std::string_view> texts);

  /// returns  bit i: texts[i] is in the line
  [[nodiscard]] std::uint64_t in(std::string_view line) const {
    std::uint64_t found = 0;
    std::uint32_t state = 0;
    for (const char c : line) {
      state = next_[state][static_cast<unsigned char>(c)];
      found |= ends_[state];
    }
    return found;
  }

 private:
  std::vector<std::array<std::uint16_t, 256>> next_;
  std::vector<std::uint64_t> ends_;
};

}  // namespace ringside::audit
