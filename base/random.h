#pragma once

#include <cstdint>

#include "base/mixed.h"

namespace ringside {

/// Random numbers from a seed: equal on every machine, unlike the standard's distributions.
///
/// source  splitmix64, Steele, Lea, Flood: Fast splittable pseudorandom number generators (2014)
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() { return mixed(state_ += 0x9e3779b97f4a7c15U); }

  /// Returns a number from 0 to n-1, all equally likely up to a bias of n / 2^64.  shape  n > 0
  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(n));
  }
  /// Returns a number from `least` to `most`.  shape  least <= most
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return least + below(most - least + 1);
  }
  /// Returns true with this probability.
  bool chance(int percent) { return below(100) < percent; }

  /// Returns a random item of a vector or an array.  shape  not empty
  template <typename Items>
  const auto& pick(const Items& items) {
    return items[static_cast<std::size_t>(below(static_cast<std::int64_t>(items.size())))];
  }

 private:
  std::uint64_t state_;
};

}  // namespace ringside
