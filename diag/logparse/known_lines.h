#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "diag/logparse/hash_slots.h"
#include "diag/logparse/record.h"

namespace ringside::logs {

/// A bit for each of the first kMost characters of a text.
struct TextBits {
  static constexpr std::size_t kWords = 3;
  static constexpr std::size_t kMost = kWords * 64;
  std::array<std::uint64_t, kWords> words{};

  [[nodiscard]] bool has(std::size_t at) const { return (words[at / 64] >> (at % 64) & 1) != 0; }
  void set(std::size_t at) { words[at / 64] |= std::uint64_t{1} << (at % 64); }
};

/// A line prefix `n01:411:980`, and the speaker that it means.
struct alignas(64) KnownPrefix {
  static constexpr std::size_t kMost = 55;
  std::array<char, kMost> bytes{};
  std::uint8_t size = 0;
  std::uint32_t speaker = 0;
  std::int32_t tid = -1;
};

/// A text of level INFO with its record. It also matches texts that differ only in the digits of its fields.
struct alignas(64) KnownText {
  static constexpr std::size_t kMostFields = 12;

  /// A number in the text, and its location in the record.
  struct Field {
    std::uint8_t at = 0, size = 0, base = 0, width = 0;
    std::uint16_t to = 0;  ///< bytes from the record's start
  };

  std::uint64_t key = 0;
  std::uint16_t size = 0;  ///< 0: unused
  std::uint8_t nfields = 0;
  /// The first nusual fields, hexadecimal numbers and those of several digits, are always read. The rest, single digits that
  /// differ between few lines, are read only if they differ.
  std::uint8_t nusual = 0;
  std::uint8_t blanks = 0;  ///< blanks before the message's text
  bool continues = false;   ///< lines without a prefix after it may belong to it
  TextBits literal{};       ///< characters that must be equal
  TextBits seldom{};        ///< characters of the fields after nusual
  Record meaning;
  std::array<Field, kMostFields> fields{};
  std::array<char, TextBits::kMost> text{};

  /// Fills a record from a matching text.
  ///
  /// with_seldom  also reads the fields after nusual
  /// returns      false, with the record unchanged, if a number is invalid
  bool fill(std::string_view from, bool with_seldom, Record& record) const;
};

/// The result of KnownLines::match() for one line.
struct LineMatch {
  static constexpr std::uint32_t kNone = HashSlots::kNone;
  std::uint32_t prefix = kNone;  ///< slot of its prefix
  std::uint32_t text = kNone;    ///< slot of its text
  std::uint8_t prefix_size =
      0;  ///< 0: the line is not of the form `n01:411:980 [3] NCCL INFO text`
  std::uint8_t text_at = 0;
  std::int16_t device = -1;
  bool has_fields = false;      ///< the known text has fields
  bool differs_seldom = false;  ///< a field after KnownText::nusual differs
  std::uint64_t prefix_hash = 0;
  std::uint64_t key = 0;  ///< key of the text; 0: too short or too long to be learnt
};

/// A cache of parsed lines of level INFO, because the processes of a job print the same text, or texts that differ only
/// in a few numbers, thousands of times. The results equal those of parse_nccl_text(), from which the class learns
/// texts and the locations of their numbers.
///
/// Threads    one thread uses an object
/// Ownership  views in a record that KnownText::fill() fills are valid until the next learn_text()
class KnownLines {
 public:
  KnownLines();

  /// Looks up consecutive lines.
  ///
  /// begin    start of the first line
  /// ends     ends of the lines, as find_line_ends() returns them, as offsets from `block`
  /// matches  set to the result for each line
  /// shape    Blocks::kSlack characters can be read after the last line
  void match(const char* begin, const char* block, std::span<const std::uint32_t> ends,
             LineMatch* matches) const;

  [[nodiscard]] const KnownPrefix& prefix(const LineMatch& match) const {
    return prefixes_[match.prefix];
  }
  [[nodiscard]] const KnownText& text(const LineMatch& match) const { return texts_[match.text]; }

  /// Learns the prefix of a line, whose match is matches.front(). If a slot is reused, clears the matches that refer to
  /// it. learn_text() does the same.
  /// shape  matches.front().prefix_size > 0
  void learn_prefix(std::string_view line, std::uint32_t speaker, std::int32_t tid,
                    std::span<LineMatch> matches);

  /// Notes a text that match() did not find.
  /// returns  whether it should be learnt: it was noted before, and learn_text() can parse it
  bool note_unknown(const LineMatch& match);

  /// Learns a text.
  /// shape  parse_nccl_text() returned Parsed::Whole for it
  void learn_text(std::string_view text, std::span<LineMatch> matches);

 private:
  static bool parse_for_learning(std::string_view text, const LineMatch& match, KnownText& known);

  HashSlots prefix_slots_, text_slots_;
  std::vector<KnownPrefix> prefixes_;
  std::vector<KnownText> texts_;
  std::vector<std::uint64_t> seen_;  ///< keys of recent lookups without success
};

}  // namespace ringside::logs
