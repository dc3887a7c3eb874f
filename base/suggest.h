#pragma once

#include <span>
#include <string>
#include <string_view>

namespace ringside {

/// Single edits (insert, drop, replace, swap of neighbours) that turn one word into the other.
/// Case counts for nothing.
int edit_distance(std::string_view a, std::string_view b);

/// The known word that somebody who typed `word` most likely meant; empty when none is near
/// (more than a third of its letters, and more than 2, would have to change).
std::string_view nearest_word(std::string_view word, std::span<const std::string_view> known);

/// returns  "did you mean 'ring'? known: ring, tree, pat" (the question only where one is near)
std::string suggestion(std::string_view word, std::span<const std::string_view> known);

}  // namespace ringside
