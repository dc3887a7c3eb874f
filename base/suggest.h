#pragma once

#include <span>
#include <string>
#include <string_view>

namespace ringside {

/// Returns the number of single edits (insert, drop, replace, swap of neighbours) that turn one
/// word into the other. Ignores case.
int edit_distance(std::string_view a, std::string_view b);

/// Returns the known word that a person who typed `word` most likely meant. Candidates, in this order: the meaning of
/// an alias (bf16: bfloat16), the same word in another case, a known word with `word` as one of its parts (h200:
/// hgx-h200), a word at most 2 edits away (1 from words of up to three letters), a known word that begins with `word`
/// or the reverse (three letters or more in common), a word at most a third of its letters away. Among equal
/// candidates: the one with the fewest edits, then the one that shares most parts, then the first.
///
/// returns  empty if no known word is similar
std::string_view nearest_word(std::string_view word, std::span<const std::string_view> known);

/// Returns the help of an error about an unknown word: "did you mean 'ring'? known: ring, tree, pat"; without the
/// question if nearest_word() finds none.
std::string suggestion(std::string_view word, std::span<const std::string_view> known);

}  // namespace ringside
