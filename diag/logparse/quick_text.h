#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/// What the lines that come most often are read with: sixteen characters at a time.
namespace ringside::logs {

/// Eight characters, the first in the lowest byte on machines that have it first.
/// shape  so many can be read
inline std::uint64_t word_at(const char* text) {
  std::uint64_t word;
  std::memcpy(&word, text, 8);
  return word;
}

/// Eight decimal digits at once, the first in the lowest byte.
/// returns  false: another character is among them
/// source   digits are summed in pairs, these in fours, and those in eights, each by a multiplication
inline bool eight_digits(std::uint64_t text, std::uint64_t& value) {
  const std::uint64_t digits = text - 0x3030303030303030U;
  // A character below '0' borrows, and one above '9' carries, into its highest bit.
  const bool are_digits = ((digits | (digits + 0x7676767676767676U)) & 0x8080808080808080U) == 0;
  const std::uint64_t pairs = (digits * 10) + (digits >> 8);
  value = (((pairs & 0x000000FF000000FFU) * 0x000F424000000064U) +
           (((pairs >> 16) & 0x000000FF000000FFU) * 0x0000271000000001U)) >>
          32;
  return are_digits;
}

/// A decimal number of one to eight digits.
/// shape    eight characters can be read before its end
/// returns  false: it is none
inline bool short_number(std::string_view digits, std::uint64_t& value) {
  std::uint64_t text;
  std::memcpy(&text, digits.data() + digits.size() - 8, 8);
  const std::uint64_t others = (std::uint64_t{1} << (8 * (8 - digits.size()))) - 1;
  return eight_digits((text & ~others) | (0x3030303030303030U & others), value);
}

/// A hexadecimal number of one to sixteen digits.
/// shape    sixteen characters can be read before its end
/// returns  false: it is none
inline bool all_hex_digits(std::string_view digits, std::uint64_t& value) {
#if defined(__SSE2__)
  const __m128i raw =
      _mm_loadu_si128(reinterpret_cast<const __m128i*>(digits.data() + digits.size() - 16));
  const __m128i low = _mm_or_si128(raw, _mm_set1_epi8(0x20));
  const __m128i digit = _mm_sub_epi8(raw, _mm_set1_epi8('0'));
  const __m128i letter = _mm_sub_epi8(low, _mm_set1_epi8('a'));
  const __m128i is_digit = _mm_cmpeq_epi8(_mm_min_epu8(digit, _mm_set1_epi8(9)), digit);
  const __m128i is_letter = _mm_cmpeq_epi8(_mm_min_epu8(letter, _mm_set1_epi8(5)), letter);
  const auto places = static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(is_digit, is_letter)));
  const unsigned wanted = 0xFFFFU & ~((1U << (16 - digits.size())) - 1);
  if ((places & wanted) != wanted) return false;
  const __m128i four =
      _mm_or_si128(_mm_and_si128(is_digit, digit),
                   _mm_and_si128(is_letter, _mm_add_epi8(letter, _mm_set1_epi8(10))));
  // The first of each pair is the low byte of its lane, and the high half of its value.
  const __m128i pairs = _mm_and_si128(
      _mm_or_si128(_mm_slli_epi16(four, 4), _mm_srli_epi16(four, 8)), _mm_set1_epi16(0xFF));
  const auto bytes = static_cast<std::uint64_t>(_mm_cvtsi128_si64(_mm_packus_epi16(pairs, pairs)));
  const std::size_t others = 64 - 4 * digits.size();
  value = __builtin_bswap64(bytes) << others >> others;
  return true;
#else
  value = 0;
  for (const char c : digits) {
    const bool is_digit = c >= '0' && c <= '9';
    const auto letter = static_cast<unsigned>((c | 0x20) - 'a');
    if (!is_digit && letter > 5) return false;
    value = value << 4 | (is_digit ? static_cast<unsigned>(c - '0') : letter + 10);
  }
  return true;
#endif
}

}  // namespace ringside::logs
