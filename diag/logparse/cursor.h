#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>

#include "base/text_parts.h"
#include "diag/logparse/quick_text.h"
#include "diag/logparse/text_search.h"

namespace ringside::logs {

/// Maps a character to the value of the hexadecimal digit; 255 for other characters.
inline constexpr std::array<std::uint8_t, 256> kHexDigits = [] {
  std::array<std::uint8_t, 256> values{};
  for (auto& value : values) value = 255;
  for (unsigned i = 0; i < 10; ++i) values['0' + i] = static_cast<std::uint8_t>(i);
  for (unsigned i = 0; i < 6; ++i)
    values['a' + i] = values['A' + i] = static_cast<std::uint8_t>(10 + i);
  return values;
}();

/// Reads a text from left to right. Each reading function consumes the named element and returns true, or consumes
/// nothing and returns false. The text must outlive the cursor.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  [[nodiscard]] bool is_done() const { return at_ == end_; }
  [[nodiscard]] char peek() const { return at_ < end_ ? *at_ : '\0'; }
  [[nodiscard]] const char* at() const { return at_; }
  [[nodiscard]] std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }
  [[nodiscard]] std::string_view rest() const { return {at_, left()}; }

  bool eat(char c) {
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }
  bool eat(std::string_view literal) {
    if (left() < literal.size() || std::memcmp(at_, literal.data(), literal.size()) != 0) {
      return false;
    }
    at_ += literal.size();
    return true;
  }
  /// Consumes a literal. The length is known at compile time, so that few instructions compare it.
  template <std::size_t N>
  bool eat(const char (&literal)[N]) {
    if (left() < N - 1 || !are_same<N - 1>(at_, literal)) return false;
    at_ += N - 1;
    return true;
  }
  void skip_blanks() {
    while (at_ < end_ && (*at_ == ' ' || *at_ == '\t')) ++at_;
  }
  void skip(std::size_t count) { at_ += count < left() ? count : left(); }

  /// Reads a decimal number, with an optional minus for signed types. Fails if the value exceeds the type's range or
  /// has more than nineteen digits, the most that 64 bits always hold.
  template <typename T>
  bool number(T& value) {
    const char* p = at_;
    const bool is_negative = std::numeric_limits<T>::is_signed && p < end_ && *p == '-';
    if (is_negative) ++p;
    const char* const digits = p;
    std::uint64_t sum = 0;
    while (p < end_ && static_cast<unsigned char>(*p - '0') < 10) {
      sum = sum * 10 + static_cast<std::uint64_t>(*p - '0');
      ++p;
    }
    constexpr int kMostDigits = std::numeric_limits<std::uint64_t>::digits10;
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<T>::max());
    if (p == digits || p - digits > kMostDigits || sum > kMost + (is_negative ? 1 : 0)) {
      return false;
    }
    at_ = p;
    value = static_cast<T>(is_negative ? 0 - sum : sum);
    return true;
  }

  /// Reads a hexadecimal number with or without 0x. Fails for more than 16 digits.
  bool hex(std::uint64_t& value) {
    const char* p = at_;
    if (end_ - p >= 2 && p[0] == '0' && (p[1] | 0x20) == 'x') p += 2;
    const char* const digits = p;
    std::uint64_t sum = 0;
    for (; p < end_; ++p) {
      const std::uint8_t digit = kHexDigits[static_cast<unsigned char>(*p)];
      if (digit > 15) break;
      sum = (sum << 4) | digit;
    }
    if (p == digits || p - digits > 16) return false;
    at_ = p;
    value = sum;
    return true;
  }

  /// Reads a real number, as std::from_chars() does.
  bool real(float& value) {
    if (const char* const behind = short_real(at_, end_, value)) {
      at_ = behind;
      return true;
    }
    const auto [end, error] = std::from_chars(at_, end_, value);
    if (error != std::errc{}) return false;
    at_ = end;
    return true;
  }

  /// Sets `taken` to the text before `stop`, and consumes both.
  bool until(char stop, std::string_view& taken) {
    const void* found = left() == 0 ? nullptr : std::memchr(at_, stop, left());
    if (found == nullptr) return false;
    const char* p = static_cast<const char*>(found);
    taken = {at_, static_cast<std::size_t>(p - at_)};
    at_ = p + 1;
    return true;
  }
  bool until(std::string_view stop, std::string_view& taken) {
    const std::size_t found = find_text(rest(), stop);
    if (found == std::string_view::npos) return false;
    taken = rest().substr(0, found);
    at_ += found + stop.size();
    return true;
  }

  /// Skips the text before the next blank.
  void skip_word() {
    if (left() >= 16) {
      const std::size_t blank = find_in_sixteen(at_, ' ');
      at_ += blank;
      if (blank < 16) return;
    }
    while (at_ < end_ && *at_ != ' ') ++at_;
  }

  /// Reads at least one character, up to a blank or the end.
  bool word(std::string_view& taken) {
    const char* p = at_;
    while (p < end_ && *p != ' ' && *p != '\t') ++p;
    if (p == at_) return false;
    taken = {at_, static_cast<std::size_t>(p - at_)};
    at_ = p;
    return true;
  }

 private:
  const char* at_;
  const char* end_;
};

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }
inline bool is_letter(char c) { return static_cast<unsigned char>((c | 0x20) - 'a') < 26; }
/// Returns whether a character may be in a host name, including underscores and dots.
inline bool is_host(char c) {
  return is_digit(c) || is_letter(c) || c == '-' || c == '_' || c == '.';
}

inline std::string_view trimmed_right(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) {
    text.remove_suffix(1);
  }
  return text;
}
inline std::string_view trimmed_left(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  return text;
}
inline std::string_view trimmed(std::string_view text) { return trimmed_left(trimmed_right(text)); }

}  // namespace ringside::logs
