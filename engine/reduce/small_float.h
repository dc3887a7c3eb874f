#pragma once

#include <cstdint>

/// Floating point of 16 and 8 bits, one value at a time. To a wider type is exact; from float32 rounds
/// to nearest, ties to even.
///
/// | format   | sign exponent mantissa | largest | beyond it    | not a number made here |
/// |----------|------------------------|---------|--------------|------------------------|
/// | half     | 1 5 10                 | 65504   | infinity     | 0x7FFF                 |
/// | bfloat16 | 1 8 7                  | 3.39e38 | infinity     | 0x7FFF                 |
/// | e4m3     | 1 4 3                  | 448     | stays at 448 | 0x7F                   |
/// | e5m2     | 1 5 2                  | 57344   | infinity     | 0x7F                   |
///
/// e4m3 has no infinities; 0x7F and 0xFF are its only NaN. A NaN loses its sign and payload.
/// Subnormal numbers are kept everywhere.
/// source  IEEE 754-2019 (half); Open Compute Project, 8-bit Floating Point Specification 1.0: e4m3
///         in its saturating mode, as CUDA's conversions have it, e5m2 as IEEE 754 has its formats
namespace ringside {

float half_to_float(std::uint16_t code);
std::uint16_t float_to_half(float value);

float bfloat16_to_float(std::uint16_t code);
std::uint16_t float_to_bfloat16(float value);

float e4m3_to_float(std::uint8_t code);
std::uint8_t float_to_e4m3(float value);

float e5m2_to_float(std::uint8_t code);
std::uint8_t float_to_e5m2(float value);

}  // namespace ringside
