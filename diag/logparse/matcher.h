#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "diag/logparse/four_bytes.h"
#include "diag/logparse/message.h"
#include "diag/logparse/piece_index.h"

namespace ringside::logs {

/// Finds the message of the catalogue that matches a text. A hole is a `{field}` of a pattern. Patterns that start with
/// text are indexed by their first characters, patterns that start with a hole by a piece of their longest text.
///
/// Threads  immutable: any thread may match
class Matcher {
 public:
  /// Returns the matcher of the whole catalogue.
  static const Matcher& of_catalogue();

  /// Sets `message` to the most specific pattern that matches the text: one that starts with text or a word before one
  /// that starts with a hole, then the one with more text, then the first.
  /// text     without blanks at its end
  /// returns  false if no pattern matches
  bool match(std::string_view text, Message& message) const;

  /// Returns whether the text begins with the first words of a pattern, of at least `least` characters.
  [[nodiscard]] bool begins(std::string_view text, std::size_t least) const;

  /// Returns the index of the hole with this name in a pattern, or -1.
  [[nodiscard]] int hole(std::uint16_t pattern, std::string_view name) const;

 private:
  enum class Hole : std::uint8_t { None, Text, Number, Word };
  struct Element {
    std::string_view literal;  ///< before the hole
    Hole hole = Hole::None;    ///< None: the end of the pattern
    std::string_view name;
  };
  struct Pattern {
    MessageId id{};
    std::uint16_t row = 0;  ///< index in message_patterns()
    std::vector<Element> elements;
    /// Characters of text; 2^16 more if it starts with text or a word
    std::uint32_t specificity = 0;
  };
  struct Entry {
    std::uint32_t key;
    std::uint16_t pattern;
  };

  Matcher();
  void index_start(std::uint16_t pattern);
  void index_piece(std::uint16_t pattern);
  bool fits(const Pattern& pattern, std::string_view text, Message& message) const;
  static void collect(const std::vector<Entry>& entries, std::uint32_t key,
                      std::vector<std::uint16_t>& candidates);

  std::vector<Pattern> patterns_;        ///< the most specific first
  std::vector<std::uint16_t> place_of_;  ///< [row]: among patterns_
  std::vector<Entry> starts_;            ///< by the first four characters
  PieceIndex pieces_;                    ///< patterns that start with a hole
  FourByteFilter<14> start_filter_;
  std::string short_starts_;  ///< first characters of patterns that start with less than four
};

}  // namespace ringside::logs
