#include "sim/fabric/platform_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <span>

#include "base/suggest.h"
#include "base/text.h"

namespace ringside {
namespace {

/// Bytes per second, and latencies, beyond those of any network: other values are mistaken units.
constexpr double kMostRate = 1e15, kLeastRate = 1e3;
constexpr Seconds kMostLatency{10};

struct Unit {
  std::string_view name;
  double factor;
};
constexpr std::array<Unit, 9> kTimes{{{"", 1},
                                      {"ps", 1e-12},
                                      {"ns", 1e-9},
                                      {"us", 1e-6},
                                      {"ms", 1e-3},
                                      {"s", 1},
                                      {"m", 60},
                                      {"h", 3600},
                                      {"d", 86400}}};
constexpr std::array<Unit, 13> kPrefixes{{{"", 1},
                                          {"k", 1e3},
                                          {"K", 1e3},
                                          {"M", 1e6},
                                          {"G", 1e9},
                                          {"T", 1e12},
                                          {"P", 1e15},
                                          {"Ki", 0x1p10},
                                          {"Mi", 0x1p20},
                                          {"Gi", 0x1p30},
                                          {"Ti", 0x1p40},
                                          {"E", 1e18},
                                          {"Ei", 0x1p60}}};

struct Scaled {
  double number = 0;
  std::string_view unit;
};

std::optional<Scaled> split(std::string_view text) {
  Scaled parts;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), parts.number);
  if (failed != std::errc{} || !std::isfinite(parts.number)) return std::nullopt;
  parts.unit = text.substr(static_cast<std::size_t>(end - text.data()));
  return parts;
}

std::optional<double> factor_of(std::string_view unit, std::span<const Unit> known) {
  const auto found = std::ranges::find(known, unit, &Unit::name);
  if (found == known.end()) return std::nullopt;
  return found->factor;
}

}  // namespace

Result<BytesPerSecond> platform_rate(const XmlElement& element, const char* key) {
  RINGSIDE_TRY(const std::string text, element.text(key, "100Gbps"));
  const auto parts = split(text);
  std::optional<double> factor;
  if (parts) {
    std::string_view unit = parts->unit;
    double of_base = 1;
    if (unit.ends_with("bps")) of_base = 1.0 / 8;
    if (unit.ends_with("bps") || unit.ends_with("Bps")) unit.remove_suffix(3);
    factor = factor_of(unit, kPrefixes);
    if (unit.size() == parts->unit.size() && !unit.empty()) factor.reset();
    if (factor) *factor *= of_base;
  }
  const double rate = factor ? parts->number * *factor : 0;
  if (rate >= kLeastRate && rate <= kMostRate) return BytesPerSecond{rate};
  return element.bad(
      fmt::format("{}=\"{}\" is no rate of a link", key, text),
      fmt::format("such as {}=\"100Gbps\" or {}=\"12.5GBps\"; 1kBps to 1PBps", key, key));
}

Result<Seconds> platform_latency(const XmlElement& element, const char* key) {
  if (!element.has(key)) return Seconds{};
  RINGSIDE_TRY(const std::string text, element.text(key, "1us"));
  const auto parts = split(text);
  const auto factor = parts ? factor_of(parts->unit, kTimes) : std::nullopt;
  if (factor && parts->number >= 0 && Seconds{parts->number * *factor} <= kMostLatency) {
    return Seconds{parts->number * *factor};
  }
  return element.bad(fmt::format("{}=\"{}\" is no latency of a link", key, text),
                     fmt::format("such as {}=\"1us\"; 0 to 10s", key));
}

Result<Sharing> platform_sharing(const XmlElement& element, const char* key, Sharing fallback) {
  if (!element.has(key)) return fallback;
  constexpr std::string_view kNames[] = {"SHARED", "SPLITDUPLEX", "FATPIPE", "FULLDUPLEX"};
  RINGSIDE_TRY(const std::string text, element.text(key, "SPLITDUPLEX"));
  const auto found = std::ranges::find(kNames, text);
  if (found == std::end(kNames)) {
    return element.bad(fmt::format("{}=\"{}\" is not supported", key, text),
                       suggestion(text, std::span(kNames).first(3)));
  }
  const auto index = found - std::begin(kNames);
  return index == 3 ? Sharing::SplitDuplex : static_cast<Sharing>(index);
}

std::vector<std::string> parts_between(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char letter : text) {
    if (letter == separator) {
      parts.emplace_back();
    } else if (letter != ' ') {
      parts.back() += letter;
    }
  }
  return parts;
}

std::optional<std::vector<int>> whole_numbers(const std::string& text) {
  std::vector<int> numbers;
  for (const std::string& part : parts_between(text, ',')) {
    const auto number = parse_int(part);
    if (!number || *number < 1 || *number > kMostGridSize) return std::nullopt;
    numbers.push_back(static_cast<int>(*number));
  }
  return numbers;
}

}  // namespace ringside
