#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

/// The vocabulary of lines that state calls (call_lines.h): the words for a field, a state or an operation.
namespace ringside::facts {

/// The field that a word names: its value follows in the line, `seq 41`.
enum class Key : std::uint8_t {
  None,
  Rank,
  Sequence,
  Step,
  Count,
  Shape,
  DType,
  Root,
  To,
  From,
  Peer,
  Tag,
  Group
};

/// The meaning of a word that is not the name of a field.
enum class WordKind : std::uint8_t {
  Other,
  Open,      ///< the call has not ended: `pending`
  Begin,     ///< the call begins: `enter`
  End,       ///< the call has ended: `done`
  Negation,  ///< the line is a sentence and states no call: `never`
  Type,      ///< `bf16`
  Group,     ///< `tp0`
  Filler     ///< has no meaning for the call: `op`
};

/// Returns the field that a lower-case word names, or Key::None.
Key key_of(std::string_view word);

/// Returns the meaning of a lower-case word that names no field.
WordKind kind_of_word(std::string_view word);

/// Returns the factor of a unit after a number of elements or bytes: 1 for `floats`, 1048576 for `mb`; 0 for a word
/// that is no unit.
std::int64_t unit_of_count(std::string_view word);

/// Returns whether a word by itself names a collective, a send or a receive. True for `all_gather_into_tensor`, `isend`
/// and `mpi_allreduce`; false for `sender`, `reduced` and `gathering`.
bool is_operation(std::string_view word);

/// A word, a number or a punctuation mark of a line.
struct Token {
  enum class Is : std::uint8_t { Word, Number, Real, Begin, End, Mark };
  Is is = Is::Mark;
  std::string_view text;     ///< view into the text that was passed to tokens_of()
  std::int64_t number = -1;  ///< value of a Number; -1 for other tokens, and if it is too large
  bool is_glued = false;     ///< no blank precedes it
  std::size_t at = 0;        ///< offset in the text
};

/// Splits a lower-case text into its first 120 tokens.
/// Ownership  the text must outlive the tokens
std::vector<Token> tokens_of(std::string_view text);

/// Returns the value of the decimal digits with which the text begins; -1 if there are none or too many.
std::int64_t whole_number(std::string_view digits);

}  // namespace ringside::facts
