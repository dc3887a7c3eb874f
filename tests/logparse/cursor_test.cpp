#include "diag/logparse/cursor.h"

#include <gtest/gtest.h>

#include <bit>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace ringside::logs {
namespace {

/// Returns the number at the start of a text; nullopt if there is none, in which case nothing was consumed.
template <typename T>
std::optional<T> number_at(const std::string& text, std::size_t left = 0) {
  Cursor cursor(text);
  T value{};
  if (!cursor.number(value)) {
    EXPECT_EQ(cursor.left(), text.size()) << text;
    return std::nullopt;
  }
  EXPECT_EQ(cursor.left(), left) << text;
  return value;
}

template <typename T>
void expect_range() {
  const std::string most = std::to_string(std::numeric_limits<T>::max());
  const std::string least = std::to_string(std::numeric_limits<T>::min());
  std::string more = most, less = least;
  ++more.back();  // the limits of these types end in 5, 7 and 8
  ++less.back();
  EXPECT_EQ(number_at<T>(most), std::numeric_limits<T>::max());
  EXPECT_EQ(number_at<T>(more), std::nullopt) << more;
  if (std::numeric_limits<T>::is_signed) {
    EXPECT_EQ(number_at<T>(least), std::numeric_limits<T>::min());
    EXPECT_EQ(number_at<T>(less), std::nullopt) << less;
  }
}

TEST(Cursor, DigitsBeyondTheTypesRangeAreRefused) {
  expect_range<std::int16_t>();
  expect_range<std::uint16_t>();
  expect_range<std::int32_t>();
  expect_range<std::uint32_t>();
  expect_range<std::int64_t>();
  EXPECT_EQ(number_at<std::int32_t>("4294967299"), std::nullopt);  // 3, modulo 2^32
  EXPECT_EQ(number_at<std::int16_t>("99999"), std::nullopt);
  EXPECT_EQ(number_at<std::uint64_t>("18446744073709551616"), std::nullopt);
  EXPECT_EQ(number_at<std::uint64_t>("9999999999999999999"), 9'999'999'999'999'999'999U);
}

TEST(Cursor, UnsignedNumbersHaveNoMinus) {
  EXPECT_EQ(number_at<std::uint32_t>("-1"), std::nullopt);
  EXPECT_EQ(number_at<std::int32_t>("-1"), -1);
  EXPECT_EQ(number_at<std::int32_t>("-"), std::nullopt);
}

TEST(Cursor, RealNumbersAreThoseOfTheStandardLibrary) {
  std::minstd_rand random(15);
  const std::string characters = "0123456789.-e+ x";
  std::vector<std::string> texts = {
      "",         "-",        ".5",       "5.",         "-0",    "-.5",  "0.1",
      "1e5",      "1.5e-3",   "1e",       "1.e2",       "inf",   "nan",  "9999999",
      "99999999", "16777217", "0.000001", "00000001.5", "1.2.3", "0x10", "3.4e39"};
  for (int round = 0; round < 100'000; ++round) {
    std::string text(random() % 10, '0');
    // Half of them of digits and a point.
    for (char& c : text) c = characters[random() % (round % 2 == 0 ? 11 : characters.size())];
    texts.push_back(text);
  }
  for (const std::string& text : texts) {
    float expected = -7, found = -7;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), expected);
    Cursor cursor(text);
    ASSERT_EQ(cursor.real(found), error == std::errc()) << text;
    if (error == std::errc()) {
      ASSERT_EQ(cursor.left(), static_cast<std::size_t>(text.data() + text.size() - end)) << text;
    }
    ASSERT_EQ(std::bit_cast<std::uint32_t>(found), std::bit_cast<std::uint32_t>(expected)) << text;
  }
}

TEST(Cursor, LeadingZerosAreDigits) { EXPECT_EQ(number_at<std::int16_t>("0000000007 ", 1), 7); }

TEST(QuickText, HexDigitsReadAsTheLibraryReadsThem) {
  std::minstd_rand random(11);
  constexpr std::string_view kCharacters = "0123456789abcdefABCDEF";
  for (int round = 0; round < 20'000; ++round) {
    std::string text(16, 'g');  // the text before is ignored
    const std::size_t size = 1 + random() % 16;
    for (std::size_t i = 0; i < size; ++i) text += kCharacters[random() % kCharacters.size()];
    // One in four has a character of any kind somewhere.
    if (round % 4 == 0) text[16 + random() % size] = static_cast<char>(random() % 256);
    const std::string_view digits = std::string_view(text).substr(16);
    std::uint64_t expected = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), expected, 16);
    const bool is_number = error == std::errc{} && end == digits.data() + digits.size();
    std::uint64_t value = 0;
    ASSERT_EQ(all_hex_digits(digits, value), is_number) << digits;
    if (is_number) {
      ASSERT_EQ(value, expected) << digits;
    }
  }
}

TEST(QuickText, FindsACharacterAmongSixteen) {
  std::minstd_rand random(12);
  for (int round = 0; round < 20'000; ++round) {
    std::string text(16, 'x');
    for (char& c : text)
      c = static_cast<char>(random() % 4 == 0 ? ' ' + random() % 2 : random() % 256);
    const std::size_t expected = std::min<std::size_t>(text.find(' '), 16);
    ASSERT_EQ(find_in_sixteen(text.data(), ' '), expected) << text;
  }
}

TEST(QuickText, TextsOfAnyConstantSizeAreCompared) {
  std::minstd_rand random(14);
  const auto compare = [&]<std::size_t... kSizes>(std::index_sequence<kSizes...>) {
    const auto one = [&]<std::size_t kSize>() {
      std::string a(kSize, 'a');
      for (char& c : a) c = static_cast<char>(random() % 256);
      std::string b = a;
      ASSERT_TRUE(are_same<kSize>(a.data(), b.data())) << kSize;
      for (std::size_t at = 0; at < kSize; ++at) {
        b[at] = static_cast<char>(a[at] ^ 1);
        ASSERT_FALSE(are_same<kSize>(a.data(), b.data())) << kSize << " at " << at;
        b[at] = a[at];
      }
    };
    (one.template operator()<kSizes>(), ...);
  };
  compare(std::make_index_sequence<40>());
}

TEST(TextSearch, FindsTheSameAsTheStandardLibrary) {
  std::minstd_rand random(13);
  for (int round = 0; round < 20'000; ++round) {
    std::string text(random() % 200, 'a');
    for (char& c : text) c = static_cast<char>('a' + random() % 3);
    std::string sought(2 + random() % 4, 'a');
    for (char& c : sought) c = static_cast<char>('a' + random() % 3);
    const std::size_t from = random() % (text.size() + 1);
    ASSERT_EQ(find_text(text, sought, from), text.find(sought, from)) << text << " " << sought;
  }
}

}  // namespace
}  // namespace ringside::logs
