#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/assert.h"
#include "engine/cuda/device/pack.h"

namespace ringside {

/// A GPU stops at an unaligned pack.
template <typename Byte>
Byte* place_of_pack(Byte* place) {
  RINGSIDE_ASSERT(reinterpret_cast<std::uintptr_t>(place) % sizeof(Pack) == 0, "a pack at {}",
                  static_cast<const void*>(place));
  return place;
}

/// A copy of a block and its tables, with nothing else next to it.
struct FibreBlockCopy {
  DeviceBlock block;
  std::vector<std::byte> ends;

  const DeviceBlock& copy(const DeviceBlock& from) {
    block = from;
    ends.assign(from.ends, from.ends + from.ends_bytes);
    use_copied_ends(block, ends.data());
    return block;
  }
};

/// A barrier of fibres that also returns whether any of them passed `true`.
struct FibreBarrier {
  int arrived = 0;
  std::uint64_t generation = 0;
  bool any = false;
  bool result = false;
};

/// The state that the warps of one strand share: a barrier, and stores that have not reached memory yet.
///
/// Other threads may see a GPU's plain stores late and in any order until the storing thread, or a thread that a
/// barrier has joined with it, stores with release. So plain stores wait here: a release writes those of its own warp
/// and those made before the strand's last barrier. A kernel that omits either loses what it stored.
///
/// Only a fence orders accesses through a switch's addresses with the others: stores that no fence follows are lost,
/// and a thread that has acquired something and has made no fence since then loads and stores garbage there.
struct FibreStrand {
  struct Pending {
    std::byte* to;
    Pack pack;
    int bytes = 16;
    int warp;
    bool is_joined = false;  ///< a barrier of the strand has come since
    bool is_multicast = false;
    bool is_fenced = false;
  };
  /// Whether the thread has acquired something without a fence since then.
  struct Acquired {
    int warp;
    bool is_joined = false;
    friend bool operator==(const Acquired&, const Acquired&) = default;
  };
  static constexpr Pack kGarbage{0x5A5A5A5A5A5A5A5AU, 0x5A5A5A5A5A5A5A5AU};

  FibreBarrier barrier;
  std::vector<Pending> pending;
  std::vector<Acquired> acquired;
  std::int64_t loaded = 0, stored = 0;  ///< bytes of data, by Simple

  /// Called when all warps have reached a barrier.
  void join() {
    for (Pending& one : pending) one.is_joined = true;
    if (!acquired.empty()) acquired = {{.warp = 0, .is_joined = true}};
  }
  void acquire(int warp) {
    const Acquired mine{.warp = warp};
    if (std::ranges::find(acquired, mine) == acquired.end()) acquired.push_back(mine);
  }
  void fence(int warp) {
    for (Pending& one : pending) {
      if (one.is_joined || one.warp == warp) one.is_fenced = true;
    }
    std::erase_if(acquired, [&](const Acquired& one) { return one.is_joined || one.warp == warp; });
  }
  [[nodiscard]] bool has_fenced(int warp) const {
    return std::ranges::none_of(
        acquired, [&](const Acquired& one) { return one.is_joined || one.warp == warp; });
  }
  void release(int warp) {
    std::erase_if(pending, [&](const Pending& one) {
      if (!one.is_joined && one.warp != warp) return false;
      if (one.is_multicast && !one.is_fenced) return false;
      store_bytes(one.to, one.pack, one.bytes);
      return true;
    });
  }
};

}  // namespace ringside
