#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/// What the lines that come most often are read with: sixteen characters at a time.
namespace ringside::logs {

/// true  the first `size` characters of two texts are the same.
/// shape  size <= most, a multiple of 16 up to 48, and so many characters can be read of both
template <std::size_t most>
bool is_same_start(const char* a, const char* b, std::size_t size) {
  static_assert(most % 16 == 0 && most < 64);
#if defined(__SSE2__)
  std::uint64_t equal = 0;
  for (std::size_t at = 0; at < most; at += 16) {
    const __m128i one = _mm_loadu_si128(reinterpret_cast<const __m128i*>(a + at));
    const __m128i other = _mm_loadu_si128(reinterpret_cast<const __m128i*>(b + at));
    const auto places = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(one, other)));
    equal |= std::uint64_t{places} << at;
  }
  const std::uint64_t wanted = (std::uint64_t{1} << size) - 1;
  return (equal & wanted) == wanted;
#else
  return std::memcmp(a, b, size) == 0;
#endif
}

/// Hexadecimal digits, sixteen characters at once: how many there are at the start of the text, and their value.
/// shape  sixteen characters can be read
inline std::size_t take_hex_digits(const char* text, std::uint64_t& value) {
#if defined(__SSE2__)
  const __m128i raw = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text));
  const __m128i low = _mm_or_si128(raw, _mm_set1_epi8(0x20));
  const __m128i digit = _mm_sub_epi8(raw, _mm_set1_epi8('0'));
  const __m128i letter = _mm_sub_epi8(low, _mm_set1_epi8('a'));
  const __m128i is_digit = _mm_cmpeq_epi8(_mm_min_epu8(digit, _mm_set1_epi8(9)), digit);
  const __m128i is_letter = _mm_cmpeq_epi8(_mm_min_epu8(letter, _mm_set1_epi8(5)), letter);
  const auto places = static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(is_digit, is_letter)));
  const auto count = static_cast<std::size_t>(__builtin_ctz(~places));
  if (count == 0) return 0;
  const __m128i four =
      _mm_or_si128(_mm_and_si128(is_digit, digit),
                   _mm_and_si128(is_letter, _mm_add_epi8(letter, _mm_set1_epi8(10))));
  // The first of each pair is the low byte of its lane, and the high half of its value.
  const __m128i pairs = _mm_and_si128(
      _mm_or_si128(_mm_slli_epi16(four, 4), _mm_srli_epi16(four, 8)), _mm_set1_epi16(0xFF));
  const auto bytes = static_cast<std::uint64_t>(_mm_cvtsi128_si64(_mm_packus_epi16(pairs, pairs)));
  value = __builtin_bswap64(bytes) >> (4 * (16 - count));
  return count;
#else
  std::size_t count = 0;
  for (value = 0; count < 16; ++count) {
    const char c = text[count];
    const bool is_digit = c >= '0' && c <= '9';
    const auto letter = static_cast<unsigned>((c | 0x20) - 'a');
    if (!is_digit && letter > 5) break;
    value = value << 4 | (is_digit ? static_cast<unsigned>(c - '0') : letter + 10);
  }
  return count;
#endif
}

}  // namespace ringside::logs
