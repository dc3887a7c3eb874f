#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

/// The vocabulary of lines of calls (call_lines.h): which words name a field, a state, an operation.
namespace ringside::facts {

/// The meaning of the value after a word.
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
  Begin,     ///< it begins: `enter`
  End,       ///< it has ended: `done`
  Negation,  ///< the line is a sentence: `never`
  Type,      ///< `bf16`
  Group,     ///< `tp0`
  Filler     ///< changes nothing: `op`
};

/// shape  a word in small letters
Key key_of(std::string_view word);
WordKind kind_of_word(std::string_view word);

/// `floats` 1, `mb` 1048576: the factor of a unit after a number of elements or bytes.  returns  0: it is no unit
std::int64_t unit_of_count(std::string_view word);

/// Whether a word alone names a collective, a send or a receive: `all_gather_into_tensor`, `isend`, `mpi_allreduce`;
/// not `sender`, `reduced` or `gathering`.
bool is_operation(std::string_view word);

struct Token {
  enum class Is : std::uint8_t { Word, Number, Real, Begin, End, Mark };
  Is is = Is::Mark;
  std::string_view text;  ///< of the line, in small letters
  std::int64_t number = -1;
  bool is_glued = false;  ///< it follows the previous token without a blank
  std::size_t at = 0;
};

/// shape  text in small letters; at most 120 tokens
std::vector<Token> tokens_of(std::string_view text);

/// returns  -1: the digits are no number, or too large
std::int64_t whole_number(std::string_view digits);

}  // namespace ringside::facts
