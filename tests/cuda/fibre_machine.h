#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/cuda/device_works.h"
#include "tests/cuda/fibres.h"

namespace ringside {

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
/// those from before the strand's last barrier. Whoever forgets either leaves what he stored behind.
struct FibreStrand {
  struct Pending {
    std::byte* to;
    Pack pack;
    int warp;
    bool is_joined;  ///< a barrier of the strand has come since
  };

  FibreBarrier barrier;
  std::vector<Pending> pending;
};

/// What the warps of one block share: a barrier of all, and the strands of each of its works.
struct FibreBlock {
  int warps = 1;
  FibreBarrier barrier;
  std::map<std::pair<int, int>, FibreStrand> strands;  ///< by work and number
};

/// GpuMachine's counterpart for tests: a warp is a fibre, its lanes are rounds of a loop. Lanes that meet nowhere
/// run one after the other; all that other warps do happens where this one says yield.
class FibreMachine {
 public:
  template <typename T>
  struct PerLane {
    T values[kLanesOfWarp];
    T& operator[](int lane) { return values[lane]; }
  };
  static constexpr std::uint32_t kLooksPerQuestion = 4;

  FibreMachine(Fibres& fibres, FibreBlock& block, int warp_of_block)
      : fibres_(fibres), block_(block), warp_of_block_(warp_of_block) {}

  void begin_work(int work, int warps_per_strand) {
    warps_ = warps_per_strand;
    shared_ = &block_.strands[{work, strand()}];
  }

  [[nodiscard]] int strand() const { return warp_of_block_ / warps_; }
  [[nodiscard]] int warp() const { return warp_of_block_ % warps_; }
  [[nodiscard]] int warps() const { return warps_; }
  [[nodiscard]] int warp_of_block() const { return warp_of_block_; }

  template <typename Do>
  void each_lane(Do&& work) {
    if (fibres_.draws(4)) fibres_.yield();
    for (int lane = 0; lane < kLanesOfWarp; ++lane) work(lane);
  }

  /// The last lane first: where a line of LL128 comes from another process, its flag, which is stored last, is loaded
  /// first. So lines are whole as a GPU's are.
  template <typename Ask>
  bool all_lanes(Ask&& ask) {
    bool all = true;
    for (int lane = kLanesOfWarp - 1; lane >= 0; --lane) all = ask(lane) && all;
    return all;
  }

  template <typename Ask>
  auto from_first_lane(Ask&& ask) {
    return ask();
  }

  void sync_warp() {}

  bool any_in_strand(bool mine) {
    return any_at(shared_->barrier, warps_, mine, [this] {
      for (FibreStrand::Pending& one : shared_->pending) one.is_joined = true;
    });
  }
  bool any_in_block(bool mine) {
    return any_at(block_.barrier, block_.warps, mine, [] {});
  }

  [[nodiscard]] Pack load_pack(const std::byte* from) const {
    return *reinterpret_cast<const Pack*>(from);
  }
  void store_pack(std::byte* to, const Pack& pack) {
    shared_->pending.push_back({to, pack, warp_of_block_, false});
  }
  [[nodiscard]] Pack load_line(const std::byte* from) const {
    auto* const words = reinterpret_cast<std::uint64_t*>(const_cast<std::byte*>(from));
    const std::uint64_t high = load_acquire(words + 1);
    return {load_acquire(words), high};
  }
  /// Each word whole, and the one long before the other.
  void store_words(std::byte* to, const Pack& pack) {
    auto* const words = reinterpret_cast<std::uint64_t*>(to);
    const std::size_t first = fibres_.draws(2) ? 1 : 0;
    store_word(words + first, first == 0 ? pack.low : pack.high);
    if (fibres_.draws(8)) fibres_.yield();
    store_word(words + 1 - first, first == 0 ? pack.high : pack.low);
  }
  void store_line(std::byte* to, const Pack& pack) {
    auto* const words = reinterpret_cast<std::uint64_t*>(to);
    store_word(words, pack.low);
    store_word(words + 1, pack.high);
  }

  [[nodiscard]] std::uint64_t load_acquire(std::uint64_t* from) const {
    return std::atomic_ref(*from).load(std::memory_order_acquire);
  }
  void store_release(std::uint64_t* to, std::uint64_t value) {
    std::erase_if(shared_->pending, [&](const FibreStrand::Pending& one) {
      if (!one.is_joined && one.warp != warp_of_block_) return false;
      *reinterpret_cast<Pack*>(one.to) = one.pack;
      return true;
    });
    std::atomic_ref(*to).store(value, std::memory_order_release);
  }
  [[nodiscard]] std::uint32_t load_flag(const std::uint32_t* from) const {
    return std::atomic_ref(*const_cast<std::uint32_t*>(from)).load(std::memory_order_relaxed);
  }

  void store_flag(std::uint32_t* to, std::uint32_t value) {
    std::atomic_ref(*to).store(value, std::memory_order_release);
  }

  [[nodiscard]] std::int64_t now_ns() const { return fibres_.now_ns(); }
  void pause() { fibres_.pause(); }

 private:
  /// on_last  what is done when all are there
  template <typename OnLast>
  bool any_at(FibreBarrier& all, int warps, bool mine, OnLast on_last) {
    all.any = all.any || mine;
    if (++all.arrived == warps) {
      all.result = all.any;
      all.any = false;
      all.arrived = 0;
      ++all.generation;
      on_last();
      if (fibres_.draws(2)) fibres_.yield();
    } else {
      const std::uint64_t before = all.generation;
      while (all.generation == before) fibres_.yield();
    }
    return all.result;
  }

  static void store_word(std::uint64_t* to, std::uint64_t word) {
    std::atomic_ref(*to).store(word, std::memory_order_release);
  }

  Fibres& fibres_;
  FibreBlock& block_;
  FibreStrand* shared_ = nullptr;  ///< of this work
  int warp_of_block_;
  int warps_ = 1;
};

}  // namespace ringside
