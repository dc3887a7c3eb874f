#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/assert.h"
#include "engine/cuda/device/pack.h"

namespace ringside {

/// A GPU stops at a pack that lies askew.
template <typename Byte>
Byte* place_of_pack(Byte* place) {
  RINGSIDE_ASSERT(reinterpret_cast<std::uintptr_t>(place) % sizeof(Pack) == 0, "a pack at {}",
                  static_cast<const void*>(place));
  return place;
}

/// A block and its tables where nothing else lies.
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

/// A barrier of fibres, which says whether any of them brought `true`.
struct FibreBarrier {
  int arrived = 0;
  std::uint64_t generation = 0;
  bool any = false;
  bool result = false;
};

/// What the warps of one strand share: a barrier, and stores on their way to memory.
///
/// A GPU's plain stores may be seen late, and in any order, until the thread that made them, or one that a barrier
/// has joined with it, stores with release. So they wait here: a release takes along those of its own warp and
/// those from before the strand's last barrier. A kernel that forgets either loses what it stored.
///
/// What goes through addresses of a switch is ordered with the rest across a fence alone: stores without a fence behind
/// them are lost, and a thread that has acquired something and had no fence since loads and stores garbage
/// there.
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
  /// That something has been acquired, and no fence has come since.
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

  /// All warps have come to a barrier.
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
