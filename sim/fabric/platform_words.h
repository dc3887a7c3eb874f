#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/topology/sources/xml_element.h"
#include "ringside/units.h"

namespace ringside {

inline constexpr int kMostGridSize = 65536;  ///< in one dimension

/// `125MBps`, `10Gbps`; without a unit bytes a second.
/// errors  Corrupt, as XmlElement::bad(); so do the other two
Result<BytesPerSecond> platform_rate(const XmlElement& element, const char* key);

/// `50us`; without a unit seconds. 0 where it is not there.
Result<Seconds> platform_latency(const XmlElement& element, const char* key);

enum class Sharing : std::uint8_t { Shared, SplitDuplex, FatPipe };
Result<Sharing> platform_sharing(const XmlElement& element, const char* key, Sharing fallback);

/// "2;4,4;1,2" at each separator, without blanks.
std::vector<std::string> parts_between(const std::string& text, char separator);

/// "4,4": from 1 to kMostGridSize. none: it is no such list
std::optional<std::vector<int>> whole_numbers(const std::string& text);

}  // namespace ringside
