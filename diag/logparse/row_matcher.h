#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "diag/logparse/piece_index.h"
#include "diag/logparse/rows.h"

namespace ringside::logs {

/// A field of a pattern, and what it took of a line.
struct Captured {
  std::string_view name, value;
};

/// A form that matches a line.
struct RowMatch {
  std::uint16_t row = 0;  ///< of catalogue_rows()
  std::vector<Captured> fields;
};

/// Finds all rows of the catalogue that match a line anywhere. Of several forms of one row the first counts.
///
/// Threads  immutable once made: any thread may match
class RowMatcher {
 public:
  static const RowMatcher& of_catalogue();
  explicit RowMatcher(const std::vector<Row>& rows);

  /// matches  of the line, in the order of the catalogue; their values are views of the line
  void match(std::string_view line, std::vector<RowMatch>& matches) const;

  /// Whether a row of a program begins the line: then it does not continue another line.
  [[nodiscard]] bool begins(std::string_view line) const;

  /// Why a pattern cannot be used; empty: it can.
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
