#include "base/text.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "base/suggest.h"

namespace ringside {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

constexpr std::array<Unit, 6> kTimeUnits{
    {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1.0}, {"min", 60.0}, {"h", 3600.0}}};

// G and T without a unit are Gbit/s and Tbit/s, as in the names of NICs: 400G.
constexpr std::array<Unit, 12> kBandwidthUnits{{{"B/s", 1.0},
                                                {"KB/s", 1e3},
                                                {"MB/s", 1e6},
                                                {"GB/s", 1e9},
                                                {"TB/s", 1e12},
                                                {"bit/s", 1.0 / 8},
                                                {"Kbit/s", 1e3 / 8},
                                                {"Mbit/s", 1e6 / 8},
                                                {"Gbit/s", 1e9 / 8},
                                                {"Tbit/s", 1e12 / 8},
                                                {"G", 1e9 / 8},
                                                {"T", 1e12 / 8}}};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

Error bad(std::string message, std::string help) {
  return {ErrorCode::InvalidArgument, std::move(message), std::move(help)};
}

/// Splits "1.5us" into the number and the rest. from_chars knows neither locale nor leading blanks.
struct NumberAndRest {
  double number;
  std::string_view rest;
};
Result<NumberAndRest> leading_number(std::string_view text, std::string_view what,
                                     std::string_view example) {
  text = trimmed(text);
  NumberAndRest parts{0, {}};
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), parts.number);
  if (failure != std::errc{} || !std::isfinite(parts.number)) {
    return bad(fmt::format("'{}' is not a {}", text, what), fmt::format("such as {}", example));
  }
  parts.rest = trimmed(text.substr(static_cast<std::size_t>(end - text.data())));
  return parts;
}

template <std::size_t N>
Result<double> number_with_unit(std::string_view text, const std::array<Unit, N>& units,
                                std::string_view what, std::string_view example) {
  RINGSIDE_TRY(const NumberAndRest parts, leading_number(text, what, example));
  std::array<std::string_view, N> names;
  for (std::size_t i = 0; i < N; ++i) {
    names[i] = units[i].name;
    if (units[i].name != parts.rest) continue;
    const double value = parts.number * units[i].factor;
    if (!std::isfinite(value))
      return bad(fmt::format("'{}' is too large for a {}", text, what),
                 fmt::format("such as {}", example));
    return value;
  }
  if (parts.rest.empty()) {
    return bad(fmt::format("'{}' has no unit", text),
               fmt::format("such as {}; {}", example, suggestion("", names)));
  }
  return bad(fmt::format("'{}': unknown unit '{}'", text, parts.rest),
             suggestion(parts.rest, names));
}

}  // namespace

Result<std::int64_t> parse_int(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || end != text.data() + text.size() || text.empty()) {
    return bad(fmt::format("'{}' is not a whole number", text), "such as 8");
  }
  return value;
}

Result<Bytes> parse_bytes(std::string_view text) {
  RINGSIDE_TRY(const NumberAndRest parts, leading_number(text, "size", "8, 64K, 1M or 2G"));
  std::string_view suffix = parts.rest;
  int step = 0;
  if (!suffix.empty() && suffix != "B" && suffix != "b") {
    constexpr std::string_view kSteps = "KMGT";
    const char letter = suffix[0] == 'k' || suffix[0] == 'm' || suffix[0] == 'g' || suffix[0] == 't'
                            ? static_cast<char>(suffix[0] - 'a' + 'A')
                            : suffix[0];
    const std::size_t at = kSteps.find(letter);
    const std::string_view tail = suffix.substr(1);
    if (at == std::string_view::npos || !(tail.empty() || tail == "B" || tail == "iB")) {
      return bad(fmt::format("'{}': unknown size suffix '{}'", text, suffix),
                 "known: B, K, M, G, T (steps of 2^10), such as 64M");
    }
    step = static_cast<int>(at) + 1;
  }
  const double value = std::ldexp(parts.number, 10 * step);
  if (value < 0 || value >= 0x1p63 || value != std::floor(value)) {
    return bad(fmt::format("'{}' is not a size in whole bytes from 0 to 2^63", text),
               "such as 8, 64K, 1M or 2G");
  }
  // Above 2^53 a double cannot hold every integer, so numbers without a fraction are read digit by digit.
  if (step == 0 && value >= 0x1p53) {
    std::uint64_t exact = 0;
    std::string_view digits = trimmed(text);
    digits.remove_suffix(suffix.size());
    digits = trimmed(digits);
    const char* const end = digits.data() + digits.size();
    const auto [read_to, error] = std::from_chars(digits.data(), end, exact);
    if (error == std::errc() && read_to == end) return Bytes{exact};  // else `1e18`
  }
  return Bytes{static_cast<std::uint64_t>(value)};
}

Result<std::vector<Bytes>> size_range(Bytes from, Bytes to, std::uint64_t factor) {
  if (from > to) {
    return bad(fmt::format("sizes from {} to {}: the first is larger", format_bytes(from),
                           format_bytes(to)),
               "give the smaller size first");
  }
  if (from == to) return std::vector<Bytes>{from};
  if (factor < 2) return bad("a size factor below 2 never reaches the end", "such as 8:64M:2");
  if (from.value == 0) return bad("a range of sizes cannot start at 0", "such as 8:64M:2");
  std::vector<Bytes> sizes;
  for (Bytes size = from; size <= to; size = size * factor) {
    sizes.push_back(size);
    if (size.value > to.value / factor) break;
  }
  return sizes;
}

Result<std::vector<Bytes>> parse_size_range(std::string_view text) {
  const std::size_t first = text.find(':');
  if (first == std::string_view::npos) {
    RINGSIDE_TRY(const Bytes size, parse_bytes(text));
    return std::vector<Bytes>{size};
  }
  const std::size_t second = text.find(':', first + 1);
  RINGSIDE_TRY(const Bytes from, parse_bytes(text.substr(0, first)));
  RINGSIDE_TRY(const Bytes to, parse_bytes(text.substr(first + 1, second == std::string_view::npos
                                                                      ? std::string_view::npos
                                                                      : second - first - 1)));
  std::uint64_t factor = 2;
  if (second != std::string_view::npos) {
    RINGSIDE_TRY(const std::int64_t given, parse_int(text.substr(second + 1)));
    factor = given < 0 ? 0 : static_cast<std::uint64_t>(given);
  }
  return size_range(from, to, factor);
}

Result<Seconds> parse_time(std::string_view text) {
  RINGSIDE_TRY(const double seconds, number_with_unit(text, kTimeUnits, "time", "1.5us"));
  if (seconds < 0) return bad(fmt::format("'{}' is negative", text), "such as 1.5us");
  return Seconds{seconds};
}

Result<BytesPerSecond> parse_bandwidth(std::string_view text) {
  RINGSIDE_TRY(const double rate,
               number_with_unit(text, kBandwidthUnits, "bandwidth", "200Gbit/s or 48GB/s"));
  if (rate <= 0) return bad(fmt::format("'{}' is not above 0", text), "such as 200Gbit/s");
  return BytesPerSecond{rate};
}

std::string lower_case(std::string_view text) {
  std::string small(text);
  for (char& c : small) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return small;
}

std::string format_ranks(std::span<const int> ranks) {
  std::string text;
  for (std::size_t first = 0; first < ranks.size();) {
    std::size_t last = first;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += last == first ? std::to_string(ranks[first])
                          : std::to_string(ranks[first]) + "-" + std::to_string(ranks[last]);
    first = last + 1;
  }
  return text;
}

std::string format_bytes(Bytes size) {
  constexpr std::string_view kSteps = "KMGT";
  std::uint64_t value = size.value;
  std::size_t step = 0;
  while (value != 0 && value % 1024 == 0 && step < kSteps.size()) {
    value /= 1024;
    ++step;
  }
  return step == 0 ? fmt::format("{}", value) : fmt::format("{}{}", value, kSteps[step - 1]);
}

std::string format_time(Seconds time) {
  const double seconds = time.count();
  const double magnitude = std::abs(seconds);
  if (magnitude >= 1.0) return fmt::format("{:.2f}s", seconds);
  if (magnitude >= 1e-3) return fmt::format("{:.2f}ms", seconds * 1e3);
  if (magnitude >= 1e-6) return fmt::format("{:.2f}us", seconds * 1e6);
  return fmt::format("{:.0f}ns", seconds * 1e9);
}

std::string format_bandwidth(BytesPerSecond rate) {
  return fmt::format("{:.2f} GB/s", in_gbs(rate));
}

}  // namespace ringside
