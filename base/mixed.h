#pragma once

#include <cstdint>

namespace ringside {

/// Returns the value with its bits mixed, so that each bit depends on all input bits. Used for hashes, and for random
/// numbers from a counter. 0 stays 0.
///
/// source  the finaliser of SplitMix64: Steele, Lea and Flood, Fast Splittable Pseudorandom Number Generators (2014)
constexpr std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31);
}

/// Adds one more value to a mixed one: the order matters, and 0 is a value like others. Begin with a constant: two
/// plain numbers as the first pair would often cancel each other.
constexpr std::uint64_t mixed_with(std::uint64_t before, std::uint64_t value) {
  constexpr std::uint64_t kGoldenRatio = 0x9e3779b97f4a7c15U;
  return mixed(before ^ (value + kGoldenRatio));
}

}  // namespace ringside
