#pragma once

#include <ringside/export.h>

#include <chrono>
#include <compare>
#include <cstdint>

namespace RINGSIDE_API ringside {

using Nanoseconds = std::chrono::duration<std::int64_t, std::nano>;  ///< read from a clock
using Seconds = std::chrono::duration<double>;                       ///< computed or simulated

/// A size in memory or on a wire.
struct Bytes {
  std::uint64_t value = 0;
  friend auto operator<=>(Bytes, Bytes) = default;
};

/// A bandwidth. 1 GB/s = 1e9 bytes/s, as nccl-tests prints it.
struct BytesPerSecond {
  double value = 0;
  friend auto operator<=>(BytesPerSecond, BytesPerSecond) = default;
};

constexpr Bytes operator+(Bytes a, Bytes b) { return {a.value + b.value}; }
constexpr Bytes operator-(Bytes a, Bytes b) { return {a.value - b.value}; }
constexpr Bytes operator*(Bytes size, std::uint64_t times) { return {size.value * times}; }
constexpr Bytes operator/(Bytes size, std::uint64_t parts) { return {size.value / parts}; }

constexpr BytesPerSecond operator/(Bytes size, Seconds time) {
  return {static_cast<double>(size.value) / time.count()};
}
constexpr Seconds operator/(Bytes size, BytesPerSecond rate) {
  return Seconds{static_cast<double>(size.value) / rate.value};
}
constexpr BytesPerSecond operator*(BytesPerSecond rate, double factor) {
  return {rate.value * factor};
}

constexpr double in_gbs(BytesPerSecond rate) { return rate.value / 1e9; }
constexpr double in_us(Seconds time) { return time.count() * 1e6; }

inline namespace literals {
constexpr Bytes operator""_B(unsigned long long n) { return {n}; }
constexpr Bytes operator""_KiB(unsigned long long n) { return {n << 10}; }
constexpr Bytes operator""_MiB(unsigned long long n) { return {n << 20}; }
constexpr Bytes operator""_GiB(unsigned long long n) { return {n << 30}; }
}  // namespace literals

}  // namespace ringside
