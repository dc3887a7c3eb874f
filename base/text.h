#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ringside/units.h"

namespace ringside {

/// Parses a decimal integer with an optional `-`.
/// errors  InvalidArgument: other characters, no digits, or a number beyond 64 bits
Result<std::int64_t> parse_int(std::string_view text);

/// Parses a size: a number and an optional step of 2^10 (`K M G T` in either case, also `KiB`, `KB`; `B` alone is
/// bytes). `64M` = 64 x 2^20 bytes, as in nccl-tests; a fraction is accepted if the result is a whole number of bytes.
/// errors  InvalidArgument: not a size, negative, a fraction of a byte, or 2^63 and more
Result<Bytes> parse_bytes(std::string_view text);

/// Parses `8`, or `8:64M:2` = 8 B, 16 B, ... 64 MiB (factor), or `8:64M` with factor 2.
/// returns at most 63 sizes, because each is at least twice the one before and below 2^63
/// errors  InvalidArgument: a bad size, from > to, factor < 2, from = 0 in a range
Result<std::vector<Bytes>> parse_size_range(std::string_view text);

/// Returns the sizes from, from * factor, ... up to and including what does not exceed `to`.
/// errors  InvalidArgument: as parse_size_range
Result<std::vector<Bytes>> size_range(Bytes from, Bytes to, std::uint64_t factor);

/// Parses a time with its unit: `ns us ms s min h`, such as `1.5us`.
/// errors  InvalidArgument: no unit, an unknown one (the error names the closest), negative, too large for a double
Result<Seconds> parse_time(std::string_view text);

/// Parses a bandwidth with its unit: `B/s KB/s MB/s GB/s TB/s` (steps of 10^3) or `bit/s Kbit/s Mbit/s Gbit/s Tbit/s`,
/// such as `200Gbit/s`. `G` and `T` alone are Gbit/s and Tbit/s, as in the names of NICs: `400G`.
/// errors  InvalidArgument: no unit, an unknown one (the error names the closest), not positive, too large for a double
Result<BytesPerSecond> parse_bandwidth(std::string_view text);

/// Returns the text with ASCII capitals as small letters, whatever the locale; other characters are
/// unchanged.
std::string lower_case(std::string_view text);

/// Returns a text such as `0-3,7` for ascending numbers; empty for none.
std::string format_ranks(std::span<const int> ranks);

std::string format_bytes(Bytes size);          ///< `64M`; `1000` if no step of 2^10 is exact
std::string format_time(Seconds time);         ///< `12.35us`, `1.20ms`; below 1 us `350ns`
std::string format_bandwidth(BytesPerSecond);  ///< `48.00 GB/s`

}  // namespace ringside
