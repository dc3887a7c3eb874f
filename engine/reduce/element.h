#pragma once

#include <cstddef>
#include <cstdint>

#include "base/vocabulary.h"

namespace ringside {

/// One element of any type: its bytes, in the low ones of the number. The rest are 0.
using ElementBits = std::uint64_t;

/// `value` in the type: rounded to float32 and then to the element for 16 and 8 bits of floating point,
/// once for float32, cut towards 0 for integers.
/// shape   of an integer type: `value` is within its range
ElementBits to_element(DataType type, double value);

/// The value of an element; 64-bit integers beyond 2^53 are rounded.
double from_element(DataType type, ElementBits bits);

/// One element at any address.
ElementBits load_element(DataType type, const std::byte* from);
void store_element(DataType type, ElementBits bits, std::byte* to);

[[nodiscard]] bool is_floating(DataType type);

/// Bits of a floating-point type's mantissa with the one that is implied: whole numbers up to
/// 2^precision are exact.  shape  is_floating(type)
int precision_of(DataType type);

}  // namespace ringside
