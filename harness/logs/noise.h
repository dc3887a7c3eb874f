#pragma once

#include <cstdint>

#include "base/mixed.h"

namespace ringside {

/// The first argument of noise() besides the seed: one for each invented quantity, so that they do not depend on each
/// other. A log's text changes with these values.
enum NoiseKey : std::uint64_t {
  kPid = 1,
  kCommunicator,
  kPointer = 100,
  kShare,
  kPort = 200,
  kBuffer = 300,
  kStream,
  kStruck = 400,  ///< which host is misconfigured
  kActiveTime = 450,
  kPassiveTime,
  kOrder = 500,  ///< of the lines of processes in a shared file
};

/// Returns a pseudorandom number that depends only on the arguments, so any part of a log can be
/// written alone.
/// source  Steele, Lea, Flood: Fast splittable pseudorandom number generators (splitmix64). The factors are two odd
///         numbers with well spread bits, so that equal `a` and `b` do not cancel each other
constexpr std::uint64_t noise(std::uint64_t seed, std::uint64_t a, std::uint64_t b = 0) {
  const std::uint64_t x = seed ^ (a * 0x9E3779B97F4A7C15ULL) ^ (b * 0xD1B54A32D192ED03ULL);
  return mixed(x + 0x9E3779B97F4A7C15ULL);
}

/// Returns a pseudorandom number in [0, 1).
constexpr double noise_share(std::uint64_t seed, std::uint64_t a, std::uint64_t b = 0) {
  return static_cast<double>(noise(seed, a, b) >> 11U) * 0x1.0p-53;
}

}  // namespace ringside
