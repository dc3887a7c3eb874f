#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/topology/sources/xml_element.h"
#include "ringside/units.h"

namespace ringside {

inline constexpr int kMostGridSize = 65536;  ///< of one dimension

/// Parses a rate such as `125MBps` or `10Gbps`. The default unit is bytes per second.
/// errors  Corrupt, as XmlElement::bad()
Result<BytesPerSecond> platform_rate(const XmlElement& element, const char* key);

/// Parses a latency such as `50us`. The default unit is seconds. Returns 0 if the attribute is missing.
/// errors  as platform_rate()
Result<Seconds> platform_latency(const XmlElement& element, const char* key);

/// SimGrid's `sharing_policy` of a link.
enum class Sharing : std::uint8_t { Shared, SplitDuplex, FatPipe };
/// Parses it. Returns `fallback` if the attribute is missing.
/// errors  as platform_rate()
Result<Sharing> platform_sharing(const XmlElement& element, const char* key, Sharing fallback);

/// Splits a text such as "2;4,4;1,2" at each separator and strips blanks.
std::vector<std::string> parts_between(const std::string& text, char separator);

/// Parses a list such as "4,4" of numbers from 1 to kMostGridSize. Returns nullopt if the text is
/// no such list.
std::optional<std::vector<int>> whole_numbers(const std::string& text);

}  // namespace ringside
