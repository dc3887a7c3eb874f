#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

/// The catalogue of rows: patterns of log lines with the facts that they state. rows/*.def has a file for each program;
/// diag/facts emits the facts.
namespace ringside::logs {

/// An entry of a catalogue file.
struct RowEntry {
  enum class Kind : std::uint8_t {
    Program,  ///< the following rows belong to this program
    Row,  ///< a pattern that may match anywhere in a line, ignoring case, and the facts that it emits
    Form,       ///< another pattern of the row above, from another version of the program
    LookAlike,  ///< a line that the row above must not match, for tests
    Message,    ///< the facts of a message of catalogue/
    Place       ///< a source file, and the domain of its errors
  };
  Kind kind = Kind::Row;
  std::string_view id;       ///< name of a row or a program, or file of a place
  std::string_view pattern;  ///< text with fields; versions of a program
  std::string_view spec;     ///< the facts; a place's domain
  std::string_view sample;   ///< a line that the pattern matches
  /// The sample's facts, as facts::to_text() prints them; empty: equal to `spec`
  std::string_view expected;
  std::uint16_t message = 0;  ///< logs::MessageId
};

/// Returns all entries of the catalogue files, in the order of rows/all.def.
std::span<const RowEntry> row_entries();

/// One pattern of a row, prepared for matching.
struct Row {
  std::string_view program;
  std::string_view id;
  std::string_view pattern;
  std::string_view spec;
  std::size_t entry = 0;    ///< index of row_entries()
  bool is_general = false;  ///< from errors.def: the meaning of a code in any program's line
};

/// Returns all patterns in the order of the catalogue.
const std::vector<Row>& catalogue_rows();

}  // namespace ringside::logs
