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
/// hgx-h200), a word at most 2 edits away, a known word that begins like `word`, a word at most a third of its letters
/// away. Among equal candidates: the one with the fewest edits, then the one that shares most parts, then the first.
///
/// returns  empty if no known word is similar
std::string_view nearest_word(std::string_view word, std::span<const std::string_view> known);

/// returns  "did you mean 'ring'? known: ring, tree, pat" (the question only if a known word is
///          near)
std::string suggestion(std::string_view word, std::span<const std::string_view> known);

}  // namespace ringside
