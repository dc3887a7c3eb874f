#pragma once

#include <cstdint>
#include <vector>

namespace ringside {

/// The set of ranks whose input a value contains. Private to the sources of the proof.
class Contributions {
 public:
  explicit Contributions(int n) : words_(static_cast<std::size_t>(n + 63) / 64) {}

  static Contributions of(int rank, int n) {
    Contributions one(n);
    one.insert(rank);
    return one;
  }
  static Contributions all(int n) {
    Contributions all_ranks(n);
    for (int rank = 0; rank < n; ++rank) all_ranks.insert(rank);
    return all_ranks;
  }

  [[nodiscard]] bool overlaps(const Contributions& other) const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if ((words_[i] & other.words_[i]) != 0) return true;
    }
    return false;
  }
  void add(const Contributions& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
  }
  friend bool operator==(const Contributions&, const Contributions&) = default;

 private:
  void insert(int rank) {
    words_[static_cast<std::size_t>(rank) / 64] |= std::uint64_t{1} << (rank % 64);
  }

  std::vector<std::uint64_t> words_;
};

}  // namespace ringside
