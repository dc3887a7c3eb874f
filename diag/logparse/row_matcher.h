#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "diag/logparse/piece_index.h"
#include "diag/logparse/rows.h"

namespace ringside::logs {

/// A field of a pattern with its value in a line.
struct Captured {
  std::string_view name, value;
};

/// A catalogue row that matches a line, with its fields.
struct RowMatch {
  std::uint16_t row = 0;  ///< index of catalogue_rows()
  std::vector<Captured> fields;
};

/// Finds all rows of the catalogue that match anywhere in a line. Of several forms of one row the first counts.
///
/// Threads  immutable: any thread may match
class RowMatcher {
 public:
  static const RowMatcher& of_catalogue();
  explicit RowMatcher(const std::vector<Row>& rows);

  /// Sets `matches` to the rows that match the line, in the order of the catalogue.
  /// Ownership  values are views into `line`
  void match(std::string_view line, std::vector<RowMatch>& matches) const;

  /// Returns whether the line begins with a row of a program, so that it does not continue the previous line.
  [[nodiscard]] bool begins(std::string_view line) const;

  /// Returns the reason why a pattern is invalid; empty if it is valid.
  static std::string problem_of(std::string_view pattern);

 private:
  enum class Hole : std::uint8_t { None, Text, Number, Word, Name, Hex, Real, End };
  struct Element {
    std::string literal;  ///< in small letters, before the hole
    Hole hole = Hole::None;
    std::string_view name;
  };
  struct Pattern {
    std::vector<Element> elements;
    bool is_open = false;       ///< it begins with {}
    bool begins_lines = false;  ///< a line that it begins does not continue another one
    std::string_view id;
  };

  [[nodiscard]] const std::vector<std::uint16_t>& candidates_of(std::string_view small) const;
  static bool parse(std::string_view text, Pattern& pattern);
  static bool fits_at(const Pattern& pattern, std::string_view small, std::string_view line,
                      std::size_t at, std::vector<Captured>& fields);
  static bool find(const Pattern& pattern, std::string_view small, std::string_view line,
                   std::vector<Captured>& fields);

  std::vector<Pattern> patterns_;
  PieceIndex pieces_;
};

}  // namespace ringside::logs
