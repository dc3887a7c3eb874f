#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

/// Parses numbers and finds characters eight bytes at a time, for the most frequent lines.
namespace ringside::logs {

static_assert(std::endian::native == std::endian::little, "the first character is the lowest byte");

/// Returns the eight characters at `text`, the first in the lowest byte.
/// shape  eight characters can be read
inline std::uint64_t word_at(const char* text) {
  std::uint64_t word;
  std::memcpy(&word, text, 8);
  return word;
}

/// Returns the four characters at `text`, the first in the lowest byte.
/// shape  four characters can be read
inline std::uint32_t four_at(const char* text) {
  std::uint32_t four;
  std::memcpy(&four, text, 4);
  return four;
}

/// Returns whether two texts of kSize characters are equal. GCC compiles memcmp() of a constant size to such comparisons, and
/// clang 19 does so for most machines, but calls it for WebAssembly.
template <std::size_t kSize>
inline bool are_same(const char* a, const char* b) {
  if constexpr (kSize > 8) {
    constexpr std::size_t kRest = kSize < 16 ? 8 : kSize - 8;  // may overlap the first eight
    return word_at(a) == word_at(b) && are_same<kRest>(a + kSize - kRest, b + kSize - kRest);
  } else if constexpr (kSize == 8) {
    return word_at(a) == word_at(b);
  } else if constexpr (kSize >= 4) {
    return four_at(a) == four_at(b) && four_at(a + kSize - 4) == four_at(b + kSize - 4);
  } else if constexpr (kSize > 0) {
    return *a == *b && are_same<kSize - 1>(a + 1, b + 1);
  } else {
    return true;
  }
}

/// Parses eight decimal digits, the first in the lowest byte. Returns false if another character is among them.
/// source   digits are summed in pairs, pairs in fours, and fours in eights, each by a multiplication
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

/// Parses a decimal number of one to eight digits.
/// shape    eight characters can be read before its end
/// returns  false: it is no such number
inline bool short_number(std::string_view digits, std::uint64_t& value) {
  std::uint64_t text;
  std::memcpy(&text, digits.data() + digits.size() - 8, 8);
  const std::uint64_t others = (std::uint64_t{1} << (8 * (8 - digits.size()))) - 1;
  return eight_digits((text & ~others) | (0x3030303030303030U & others), value);
}

/// Parses a real number of up to seven digits without an exponent, for which libc++'s std::from_chars() takes much longer. The
/// digits and the power of ten are exact in a float, so that the quotient is the nearest float.
/// returns  the end of the number; nullptr: it is no such number
inline const char* short_real(const char* text, const char* end, float& value) {
  constexpr float kTens[] = {1e0F, 1e1F, 1e2F, 1e3F, 1e4F, 1e5F, 1e6F, 1e7F};
  constexpr std::ptrdiff_t kMostDigits = 7;
  const bool is_negative = text < end && *text == '-';
  const char* p = text + (is_negative ? 1 : 0);
  std::uint32_t sum = 0;
  const auto count_digits = [&] {
    const char* const first = p;
    for (; p < end && static_cast<unsigned char>(*p - '0') < 10; ++p) {
      sum = sum * 10 + static_cast<std::uint32_t>(*p - '0');
    }
    return p - first;
  };
  const std::ptrdiff_t whole = count_digits();
  std::ptrdiff_t decimals = 0;
  if (p < end && *p == '.') {
    ++p;
    decimals = count_digits();
    if (decimals == 0) return nullptr;
  }
  if (whole == 0 || whole + decimals > kMostDigits) return nullptr;
  if (p < end && (*p | 0x20) == 'e') return nullptr;
  const float size = static_cast<float>(sum) / kTens[decimals];
  value = is_negative ? -size : size;
  return p;
}

/// Parses eight hexadecimal digits, the first in the lowest byte. Returns false if another character is among them.
inline bool eight_hex_digits(std::uint64_t text, std::uint64_t& value) {
  constexpr std::uint64_t kEach = 0x0101010101010101U;
  constexpr std::uint64_t kHigh = 0x80 * kEach;
  // For characters below 0x80, adding a constant carries into the highest bit exactly if the character is at least a
  // certain value.
  const std::uint64_t plain = text & ~kHigh;
  const std::uint64_t low = plain | 0x20 * kEach;
  const std::uint64_t is_digit = (plain + (0x80 - '0') * kEach) & ~(plain + (0x7F - '9') * kEach);
  const std::uint64_t is_letter = (low + (0x80 - 'a') * kEach) & ~(low + (0x7F - 'f') * kEach);
  const bool are_digits = ((is_digit | is_letter) & ~text & kHigh) == kHigh;
  const std::uint64_t four = (text & 0x0F * kEach) + ((is_letter & kHigh) >> 7) * 9;
  // In each lane, the first character of a pair is in the low byte, but has the higher value.
  const std::uint64_t bytes = (four << 4 | four >> 8) & 0x00FF00FF00FF00FFU;
  const std::uint64_t pairs = (bytes | bytes >> 8) & 0x0000FFFF0000FFFFU;
  value = __builtin_bswap32(static_cast<std::uint32_t>(pairs | pairs >> 16));
  return are_digits;
}

/// Parses a hexadecimal number of one to sixteen digits.
/// shape    sixteen characters can be read before its end
/// returns  false: it is no such number
inline bool all_hex_digits(std::string_view digits, std::uint64_t& value) {
  const char* const end = digits.data() + digits.size();
  const auto eight = [end](std::size_t before, std::size_t size, std::uint64_t& part) {
    const std::uint64_t others = (std::uint64_t{1} << (8 * (8 - size))) - 1;
    const std::uint64_t text = word_at(end - before);
    return eight_hex_digits((text & ~others) | (0x3030303030303030U & others), part);
  };
  if (digits.size() <= 8) return eight(8, digits.size(), value);
  std::uint64_t high = 0;
  if (!eight(16, digits.size() - 8, high) || !eight(8, 8, value)) return false;
  value |= high << 32;
  return true;
}

/// Returns the index of the first `sought` in sixteen characters, or 16.
/// shape  sixteen characters can be read
inline std::size_t find_in_sixteen(const char* text, char sought) {
  constexpr std::uint64_t kEach = 0x0101010101010101U;
  // Finds the lowest zero byte: bytes below it cause no borrow.
  const auto zeros = [](std::uint64_t word) { return (word - kEach) & ~word & 0x80 * kEach; };
  const std::uint64_t every = static_cast<unsigned char>(sought) * kEach;
  if (const std::uint64_t first = zeros(word_at(text) ^ every); first != 0) {
    return static_cast<std::size_t>(std::countr_zero(first)) / 8;
  }
  const std::uint64_t second = zeros(word_at(text + 8) ^ every);
  return second != 0 ? 8 + static_cast<std::size_t>(std::countr_zero(second)) / 8 : 16;
}

}  // namespace ringside::logs
