#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

/// The meaning of lines of text, as data: rows/*.def, one file for each program. diag/facts makes facts of them.
namespace ringside::logs {

/// An entry of the catalogue, as its file has it.
struct RowEntry {
  enum class Kind : std::uint8_t {
    Program,  ///< the rows below are of this program
    Row,   ///< a form that may occur anywhere in a line, in any case, and the facts that it emits
    Form,  ///< another form of the row above
    LookAlike,  ///< a line that the row above must not match
    Message,    ///< the facts of a message of catalogue/
    Place       ///< a source file, and which part of the stack its errors are of
  };
  Kind kind = Kind::Row;
  std::string_view id;       ///< of a row; a program's name; a place's file
  std::string_view pattern;  ///< text with fields; versions of a program
  std::string_view spec;     ///< the facts; a place's domain
  std::string_view sample;   ///< a line that the form matches
  std::string_view
      expected;  ///< its facts, as facts::to_text() has them; empty: as the spec has them
  std::uint16_t message = 0;  ///< logs::MessageId
};

std::span<const RowEntry> row_entries();

/// A form of a row, prepared for matching.
struct Row {
  std::string_view program;
  std::string_view id;
  std::string_view pattern;
  std::string_view spec;
  std::size_t entry = 0;    ///< of row_entries()
  bool is_general = false;  ///< of errors.def: a code's meaning, whatever program prints it
};

/// The rows of the catalogue with their forms, in its order.
const std::vector<Row>& catalogue_rows();

}  // namespace ringside::logs
