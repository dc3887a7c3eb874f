#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/cuda/device/device_works.h"
#include "tests/cuda/fibre_strand.h"
#include "tests/cuda/fibre_switch.h"
#include "tests/cuda/fibres.h"

namespace ringside {

/// The state that the warps of one block share: a barrier for all of them, and the strands of each of its works.
struct FibreBlock {
  int warps = 1;
  FibreBarrier barrier;
  std::map<std::pair<int, int>, FibreStrand> strands;  ///< by work and number
};

/// Replaces GpuMachine in tests: a warp is a fibre, and its lanes are the rounds of a loop. Lanes that do not
/// synchronize run one after the other; other warps run only where this one yields.
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

  [[nodiscard]] const DeviceBlock& keep_block(const DeviceBlock& from) { return kept_.copy(from); }
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

  /// Loads the last lane first: where a line of LL128 comes from another process, its flag, which is stored last, is
  /// loaded first. So lines are complete, as on a GPU.
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
  [[nodiscard]] DeviceWarpMemory& warp_memory() { return memory_; }

  bool any_in_strand(bool mine) {
    return any_at(shared_->barrier, warps_, mine, [this] { shared_->join(); });
  }
  bool any_in_block(bool mine) {
    return any_at(block_.barrier, block_.warps, mine, [] {});
  }

  [[nodiscard]] Pack load_pack(const std::byte* from) const {
    return load_part(place_of_pack(from), 16);
  }
  [[nodiscard]] Pack load_part(const std::byte* from, int bytes) const {
    shared_->loaded += bytes;
    return load_bytes(from, bytes);
  }
  void store_pack(std::byte* to, const Pack& pack) { store_part(place_of_pack(to), pack, 16); }
  void store_part(std::byte* to, const Pack& pack, int bytes) {
    shared_->stored += bytes;
    shared_->pending.push_back({.to = to, .pack = pack, .bytes = bytes, .warp = warp_of_block_});
  }
  void write_pack(std::byte* to, const Pack& pack) { write_part(place_of_pack(to), pack, 16); }
  void write_part(std::byte* to, const Pack& pack, int bytes) {
    shared_->stored += bytes;
    store_bytes(to, pack, bytes);
  }

  /// Copies in an order that may differ between calls.
  template <std::size_t kPacks>
  void load_reduced(const DeviceReduction& reduction, const std::byte* from, std::int64_t stride,
                    Pack (&sums)[kPacks]) {
    for (std::size_t i = 0; i < kPacks; ++i) {
      std::vector<std::byte*> places =
          FibreSwitch::places(from + static_cast<std::int64_t>(i) * stride);
      while (!fibres_.draws(2)) std::ranges::rotate(places, places.begin() + 1);
      sums[i] = load_pack(places.front());
      for (std::size_t k = 1; k < places.size(); ++k) {
        sums[i] = reduce_pack(reduction, sums[i], load_pack(places[k]));
      }
      if (!shared_->has_fenced(warp_of_block_)) sums[i] = FibreStrand::kGarbage;
    }
  }
  void multicast_pack(std::byte* to, const Pack& pack) {
    const Pack& sent = shared_->has_fenced(warp_of_block_) ? pack : FibreStrand::kGarbage;
    for (std::byte* const place : FibreSwitch::places(to)) {
      shared_->pending.push_back(
          {.to = place, .pack = sent, .warp = warp_of_block_, .is_multicast = true});
    }
  }
  void fence_aliases() { shared_->fence(warp_of_block_); }

  [[nodiscard]] Pack load_line(const std::byte* from) const {
    auto* const words = reinterpret_cast<std::uint64_t*>(const_cast<std::byte*>(from));
    const std::uint64_t high = load_word(words + 1);
    return {load_word(words), high};
  }
  /// Stores each word as a whole, and the first long before the second.
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

  [[nodiscard]] std::uint64_t load_acquire(std::uint64_t* from) {
    shared_->acquire(warp_of_block_);
    return load_word(from);
  }
  void store_release(std::uint64_t* to, std::uint64_t value) {
    shared_->release(warp_of_block_);
    std::atomic_ref(*to).store(value, std::memory_order_release);
  }
  [[nodiscard]] std::uint32_t load_flag(const std::uint32_t* from) const {
    return std::atomic_ref(*const_cast<std::uint32_t*>(from)).load(std::memory_order_relaxed);
  }

  void store_relaxed(std::uint64_t* to, std::uint64_t value) {
    std::atomic_ref(*to).store(value, std::memory_order_relaxed);
  }
  void store_flag(std::uint32_t* to, std::uint32_t value) {
    std::atomic_ref(*to).store(value, std::memory_order_release);
  }

  [[nodiscard]] std::int64_t now_ns() const { return fibres_.now_ns(); }
  void pause() { fibres_.pause(); }

 private:
  /// on_last  is called when all have arrived
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

  static std::uint64_t load_word(std::uint64_t* from) {
    return std::atomic_ref(*from).load(std::memory_order_acquire);
  }
  static void store_word(std::uint64_t* to, std::uint64_t word) {
    std::atomic_ref(*to).store(word, std::memory_order_release);
  }

  Fibres& fibres_;
  FibreBlock& block_;
  FibreStrand* shared_ = nullptr;  ///< of this work
  int warp_of_block_;
  int warps_ = 1;
  DeviceWarpMemory memory_;
  FibreBlockCopy kept_;
};

}  // namespace ringside
