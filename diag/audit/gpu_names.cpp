#include "diag/audit/gpu_names.h"

#include <algorithm>

namespace ringside::audit {
namespace {

bool is_of_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/// Removes the first word of the text, and what precedes it.  returns  the word; empty: no word is left
std::string_view take_word(std::string_view& text) {
  const auto begin = std::ranges::find_if(text, is_of_word);
  const auto end = std::find_if_not(begin, text.end(), is_of_word);
  const std::string_view word(begin, end);
  text = std::string_view(end, text.end());
  return word;
}

/// Returns whether the text begins with the words.
bool begins_with_words(std::string_view text, std::string_view words, bool may_continue) {
  for (std::string_view word = take_word(words); !word.empty();) {
    const std::string_view next = take_word(words);
    const bool is_last = next.empty();
    const std::string_view own = take_word(text);
    if (is_last && may_continue ? !own.starts_with(word) : own != word) return false;
    word = next;
  }
  return true;
}

}  // namespace

bool names_gpu(std::string_view text, std::string_view words) {
  const bool may_continue = words.ends_with('*');
  while (!text.empty()) {
    if (begins_with_words(text, words, may_continue)) return true;
    take_word(text);
  }
  return false;
}

bool names_any_gpu(std::string_view text, std::span<const std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view one) { return names_gpu(text, one); });
}

}  // namespace ringside::audit
