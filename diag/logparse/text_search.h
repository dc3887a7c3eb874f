#pragma once

#include <cstring>
#include <string_view>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace ringside::logs {

/// Where `sought` is in a text, at or behind `from`; npos: nowhere. As string_view::find, and several times as
/// fast where the first character is a common one: looks for the first and the last at sixteen places at once.
/// shape  sought has two characters or more
inline std::size_t find_text(std::string_view text, std::string_view sought, std::size_t from = 0) {
#if defined(__SSE2__)
  const std::size_t length = sought.size();
  const __m128i first = _mm_set1_epi8(sought.front());
  const __m128i last = _mm_set1_epi8(sought.back());
  while (from + length + 15 <= text.size()) {
    const char* const at = text.data() + from;
    const __m128i begins = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const __m128i ends = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + length - 1));
    const __m128i both = _mm_and_si128(_mm_cmpeq_epi8(begins, first), _mm_cmpeq_epi8(ends, last));
    auto places = static_cast<unsigned>(_mm_movemask_epi8(both));
    for (; places != 0; places &= places - 1) {
      const auto place = static_cast<std::size_t>(__builtin_ctz(places));
      if (std::memcmp(at + place + 1, sought.data() + 1, length - 2) == 0) return from + place;
    }
    from += 16;
  }
#endif
  return text.find(sought, from);
}

/// Where a character first is in the first `most` ones; `most` where it is not.
/// shape  most is a multiple of 16, and so many characters can be read
template <std::size_t most>
std::size_t find_character(const char* text, char sought) {
  static_assert(most % 16 == 0);
#if defined(__SSE2__)
  const __m128i every = _mm_set1_epi8(sought);
  for (std::size_t at = 0; at < most; at += 16) {
    const __m128i part = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text + at));
    const auto places = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(part, every)));
    if (places != 0) return at + static_cast<std::size_t>(__builtin_ctz(places));
  }
  return most;
#else
  const void* found = std::memchr(text, sought, most);
  return found == nullptr ? most : static_cast<std::size_t>(static_cast<const char*>(found) - text);
#endif
}

}  // namespace ringside::logs
