#pragma once

#include <cstdint>
#include <vector>

namespace ringside::logs {

/// A filter for a set of four-byte numbers (Bloom filter with one hash): 2^kLogBits bits, one set for each number.
template <unsigned kLogBits>
class FourByteFilter {
 public:
  void add(std::uint32_t key) {
    words_[bit_of(key) / 64] |= std::uint64_t{1} << (bit_of(key) % 64);
  }
  /// Returns true for each number that was added, and for few others.
  [[nodiscard]] bool may_contain(std::uint32_t key) const {
    return ((words_[bit_of(key) / 64] >> (bit_of(key) % 64)) & 1) != 0;
  }

 private:
  static std::uint32_t bit_of(std::uint32_t key) { return (key * 2654435761U) >> (32 - kLogBits); }

  std::vector<std::uint64_t> words_ = std::vector<std::uint64_t>((1U << kLogBits) / 64);
};

}  // namespace ringside::logs
