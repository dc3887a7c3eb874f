#pragma once

#include <cstddef>
#include <cstdint>

#include "base/vocabulary.h"

namespace ringside {

/// One element of any type, in the low bytes of the number; the other bytes are 0.
using ElementBits = std::uint64_t;

/// Converts a value to the type. Floating point of 16 and 8 bits is rounded to float32, then to the element; float32 is
/// rounded once; integers are truncated towards 0.
/// shape   for an integer type, `value` is within its range
ElementBits to_element(DataType type, double value);

/// Returns the value of an element; 64-bit integers beyond 2^53 are rounded.
double from_element(DataType type, ElementBits bits);

/// Loads one element; `from` needs no alignment.
ElementBits load_element(DataType type, const std::byte* from);
void store_element(DataType type, ElementBits bits, std::byte* to);

[[nodiscard]] bool is_floating(DataType type);

/// Returns the bits of a floating-point type's mantissa, including the implied one: integers up to 2^precision are
/// exact.  shape  is_floating(type)
int precision_of(DataType type);

}  // namespace ringside
