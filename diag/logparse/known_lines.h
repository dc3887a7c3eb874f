#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "diag/logparse/hash_slots.h"
#include "diag/logparse/record.h"

namespace ringside::logs {

/// A bit for each of a text's first characters.
struct TextBits {
  static constexpr std::size_t kWords = 3;
  static constexpr std::size_t kMost = kWords * 64;
  std::array<std::uint64_t, kWords> words{};

  [[nodiscard]] bool has(std::size_t at) const { return (words[at / 64] >> (at % 64) & 1) != 0; }
  void set(std::size_t at) { words[at / 64] |= std::uint64_t{1} << (at % 64); }
};

/// `n01:411:980` at the start of a line, and its meaning.
struct alignas(64) KnownPrefix {
  static constexpr std::size_t kMost = 55;
  std::array<char, kMost> bytes{};
  std::uint8_t size = 0;
  std::uint32_t speaker = 0;
  std::int32_t tid = -1;
};

/// A text of level INFO, and its meaning, which covers all texts that differ from it only in the digits of its
/// fields.
struct alignas(64) KnownText {
  static constexpr std::size_t kMostFields = 12;

  /// A number in a text, and where in the record it belongs.
  struct Field {
    std::uint8_t at = 0, size = 0, base = 0, width = 0;
    std::uint16_t to = 0;  ///< bytes from the record's start
  };

  std::uint64_t key = 0;
  std::uint16_t size = 0;  ///< 0: not to be known
  std::uint8_t nfields = 0;
  std::uint8_t nusual = 0;  ///< the fields before it are always read; the rest only if they differ
  std::uint8_t blanks = 0;  ///< before the message's text
  bool continues = false;   ///< unprefixed lines after it may belong to it
  TextBits literal{};       ///< characters that must be the same
  TextBits seldom{};        ///< characters of the fields after nusual
  Record meaning;
  std::array<Field, kMostFields> fields{};
  std::array<char, TextBits::kMost> text{};

  /// Fills the record from a text that matches.
  ///
  /// with_seldom  fields after nusual may differ
  /// returns      false: a number is invalid, and the record is unchanged
  bool fill(std::string_view from, bool with_seldom, Record& record) const;
};

/// What is known of a line before it is parsed.
struct LineMatch {
  static constexpr std::uint32_t kNone = HashSlots::kNone;
  std::uint32_t prefix = kNone;  ///< its slot
  std::uint32_t text = kNone;    ///< its slot
  std::uint8_t prefix_size = 0;  ///< 0: no line of the form `n01:411:980 [3] NCCL INFO text`
  std::uint8_t text_at = 0;
  std::int16_t device = -1;
  bool has_fields = false;      ///< the text is of a kind whose numbers differ
  bool differs_seldom = false;  ///< in a field that seldom does
  std::uint64_t prefix_hash = 0;
  std::uint64_t key = 0;  ///< of the text; 0: too short or too long to be known
};

/// Memory of lines of level INFO: the processes of a job log thousands of times, and print the same text, or texts
/// that differ in a few numbers alone. The results equal those of parse_nccl_text(): the class learns from it,
/// including the places of the numbers.
///
/// Threads    one
/// Ownership  views in what KnownText::fill() fills point into this object, until the next learn_text()
class KnownLines {
 public:
  KnownLines();

  /// Looks up consecutive lines.
  ///
  /// begin    where line 0 starts
  /// ends     where each of them ends, as find_line_ends() returns it, counted from `block`
  /// matches  gets one for each line
  /// shape    Blocks::kSlack characters can be read after the last line
  void match(const char* begin, const char* block, std::span<const std::uint32_t> ends,
             LineMatch* matches) const;

  [[nodiscard]] const KnownPrefix& prefix(const LineMatch& match) const {
    return prefixes_[match.prefix];
  }
  [[nodiscard]] const KnownText& text(const LineMatch& match) const { return texts_[match.text]; }

  /// Learns the writer of a line: the first of the matches belongs to it. Matches that refer to the slot which is
  /// reused are cleared; learn_text() does the same.
  /// shape  matches.front().prefix_size > 0
  void learn_prefix(std::string_view line, std::uint32_t speaker, std::int32_t tid,
                    std::span<LineMatch> matches);

  /// Whether the text is worth learning: it came before and was not known then.
  bool wants(const LineMatch& match);

  /// Learns a text.
  /// shape  parse_nccl_text() understood it to its end, and no other line begins in it
  void learn_text(std::string_view text, std::span<LineMatch> matches);

 private:
  static bool parse_for_learning(std::string_view text, const LineMatch& match, KnownText& known);

  HashSlots prefix_slots_, text_slots_;
  std::vector<KnownPrefix> prefixes_;
  std::vector<KnownText> texts_;
  std::vector<std::uint64_t> seen_;  ///< keys that were not known last
};

}  // namespace ringside::logs
