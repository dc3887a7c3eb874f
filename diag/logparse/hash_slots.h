#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace ringside::logs {

/// A 4-way set-associative index by hash, for a few thousand entries. The class returns slot numbers; the caller stores
/// the entry of each slot, and must check that a found entry is the right one.
class HashSlots {
 public:
  static constexpr std::uint32_t kNone = 0xffffffff;

  /// shape  slots: a power of two, at least four
  explicit HashSlots(std::uint32_t slots) : groups_(slots / kWays), last_(slots / kWays - 1) {}

  /// Returns the slot with this hash, or kNone.
  [[nodiscard]] std::uint32_t find(std::uint64_t hash) const {
    const std::uint32_t group = group_of(hash);
    const std::uint32_t tag = tag_of(hash);
    const auto& tags = groups_[group].tags;
    // All four are compared whatever the first ones show: the branch could not be predicted.
    unsigned ways = 0;
    for (std::uint32_t way = 0; way < kWays; ++way) {
      ways |= static_cast<unsigned>(tags[way] == tag) << way;
    }
    return ways == 0 ? kNone : group * kWays + static_cast<std::uint32_t>(std::countr_zero(ways));
  }

  /// Returns a slot for a new entry: the one with the same hash, else a free one, else the next one in rotation, whose
  /// old entry the caller overwrites.
  std::uint32_t take(std::uint64_t hash) {
    const std::uint32_t known = find(hash);
    if (known != kNone) return known;
    const std::uint32_t group = group_of(hash);
    std::uint32_t way = 0;
    while (way < kWays && groups_[group].tags[way] != 0) ++way;
    if (way == kWays) way = turn_++ % kWays;
    groups_[group].tags[way] = tag_of(hash);
    return group * kWays + way;
  }

 private:
  static constexpr std::uint32_t kWays = 4;
  struct alignas(16) Group {
    std::array<std::uint32_t, kWays> tags{};  ///< 0: free
  };

  [[nodiscard]] std::uint32_t group_of(std::uint64_t hash) const {
    return static_cast<std::uint32_t>(hash >> 32) & last_;
  }
  static std::uint32_t tag_of(std::uint64_t hash) { return static_cast<std::uint32_t>(hash) | 1; }

  std::vector<Group> groups_;
  std::uint32_t last_;
  std::uint32_t turn_ = 0;
};

}  // namespace ringside::logs
