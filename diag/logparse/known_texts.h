#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "diag/logparse/record.h"

namespace ringside::logs {

/// What texts of level INFO mean, by heart: the ranks of a job repeat the same lines, or lines that differ in a few
/// numbers alone. Its answers are those of parse_nccl_text(): it learns from that, a number's place included.
///
/// Threads    one
/// Ownership  views in what recall() fills point into this object, until the next learn()
class KnownTexts {
 public:
  static constexpr std::size_t kMostText = 192;

  KnownTexts();

  /// Makes the record say what the text says.
  /// returns  false: it is not known, and the record is as it was
  bool recall(std::string_view text, Record& record);

  /// true  the text is worth learning: it came before and was not known then
  /// shape  the text that recall() did not know last
  bool wants(std::string_view text);

  /// Learns the text that wants() was told of.
  /// shape  parse_nccl_text() understood it to its end, and no other line begins in it
  void learn(std::string_view text);

 private:
  /// A number in a text, and where in the record it belongs.
  struct Field {
    std::uint8_t at = 0, size = 0, base = 0, width = 0;
    std::uint16_t to = 0;  ///< bytes from the record's start
  };
  static constexpr std::size_t kMostFields = 12;
  using Blanks = std::array<std::uint64_t, kMostText / 64>;

  struct alignas(64) Entry {
    std::uint64_t key = 0;
    std::uint16_t size = 0;  ///< of the text; 0: nothing is known here
    bool has_fields = false;
    std::uint8_t nfields = 0;
    Blanks blanks{};  ///< bit i: a blank stands at i
    std::array<Field, kMostFields> fields{};
    Record meaning;
    alignas(16) std::array<char, kMostText> text{};
    alignas(16) std::array<std::uint8_t, kMostText> literal{};  ///< 255 where the text must be this
  };

  void find_key(std::string_view text);
  [[nodiscard]] bool is_as_learned(const Entry& entry, std::string_view text) const;

  std::vector<Entry> entries_;
  std::vector<std::uint64_t> seen_;  ///< by entry: the key that was not known last
  // Of the last text:
  std::uint64_t key_ = 0;
  Blanks blanks_{};
  bool has_fields_ = false;  ///< a line of a kind whose numbers differ
};

}  // namespace ringside::logs
