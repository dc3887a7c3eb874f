#pragma once

#include <cstddef>
#include <cstdint>

#include "base/device_code.h"

namespace ringside {

/// The expected content of a buffer: elements are divided into 8 classes by index, and all elements of a class have
/// one value.  shape  plain data, which kernels take by value
struct PlaceTable {
  std::uint64_t seed = 0;
  std::int64_t first = 0;     ///< place of the buffer's first element
  std::int64_t count = 0;     ///< elements of the buffer
  std::int32_t element = 1;   ///< bytes
  std::byte values[64] = {};  ///< [class], consecutive
};

/// Fibonacci hashing: the top bits of a product with 2^64 / golden ratio are well mixed.
RINGSIDE_HD inline std::size_t class_of_place(std::int64_t place, std::uint64_t seed) {
  return static_cast<std::size_t>(
      ((static_cast<std::uint64_t>(place) + seed) * 0x9E3779B97F4A7C15ULL) >> 61);
}

/// Returns whether element `i` of the buffer has the expected value.
RINGSIDE_HD inline bool is_as_expected(const PlaceTable& expected, const std::byte* buffer,
                                       std::int64_t i) {
  const std::byte* const value =
      expected.values + class_of_place(expected.first + i, expected.seed) *
                            static_cast<std::size_t>(expected.element);
  const std::byte* const found = buffer + i * expected.element;
  bool is_equal = true;
  for (int at = 0; at < expected.element; ++at) is_equal = is_equal && found[at] == value[at];
  return is_equal;
}

}  // namespace ringside
