#pragma once

#include <cstdint>

#include "engine/cuda/device/device_call.h"
#include "engine/cuda/device/pack.h"

namespace ringside {

/// The addresses of some ends' slots, or of the destinations of messages. Most steps have one, which stays in a
/// register.
template <typename Byte>
struct DevicePlaces {
  int count = 0;  ///< without `multicast`
  /// The address of all members' slots behind a switch. A step has at most one such port per side, and a step that
  /// receives from it does not read the input, because heads send their share to the switch like all ranks (nvls.h).
  /// Null: none
  Byte* multicast = nullptr;
  Byte* first = nullptr;
  Byte** others = nullptr;  ///< in DeviceWarpMemory: all addresses after the first

  template <typename Machine>
  RINGSIDE_HD void add(Machine& machine, Byte* place, bool is_multicast) {
    if (is_multicast) {
      multicast = place;
      return;
    }
    if (count == 0) {
      first = place;
    } else {
      machine.each_lane([&](int lane) {
        if (lane == 0) others[count - 1] = place;
      });
    }
    ++count;
  }
  [[nodiscard]] RINGSIDE_HD bool is_any() const { return count > 0 || multicast != nullptr; }
};

/// The work of a strand's lanes on one slice, when all its inputs are available.
struct DeviceMove {
  bool reads_input = false;
  bool writes_output = false;
  const std::byte* input = nullptr;
  std::byte* output = nullptr;
  std::int64_t bytes = 0;
  DevicePlaces<const std::byte> from;
  DevicePlaces<std::byte> to;
  bool is_aligned = true;  ///< all of the places, to 16 bytes
};

/// Moves the packs of a slice that a lane has in flight: loads, reduces and stores them.
/// kPacks  number of packs
/// kWhole  whether these are whole packs at aligned addresses; else one pack of `bytes` bytes at any address
/// at      offset of the first pack in the slice, in bytes
/// stride  from one pack to the next, in bytes
template <bool kReduces, std::size_t kPacks, bool kWhole, typename Machine>
RINGSIDE_HD void move_group(Machine& machine, const DeviceBlock& block, const DeviceMove& move,
                            std::int64_t at, std::int64_t stride, int bytes) {
  const auto place_of = [stride](std::size_t i) { return static_cast<std::int64_t>(i) * stride; };
  const auto load = [&](const std::byte* from) {
    return kWhole ? machine.load_pack(from) : machine.load_part(from, bytes);
  };
  Pack sums[kPacks];
  int arrived = 0;
  if (move.reads_input) {
    RINGSIDE_UNROLL
    for (std::size_t i = 0; i < kPacks; ++i) sums[i] = load(move.input + at + place_of(i));
    if (kReduces && block.reduction.is_scaled) {
      for (std::size_t i = 0; i < kPacks; ++i) sums[i] = scaled_pack(block.reduction, sums[i]);
    }
  } else if (kReduces && move.from.multicast != nullptr) {
    machine.load_reduced(block.reduction, move.from.multicast + at, stride, sums);
  } else if (move.from.count > 0) {
    RINGSIDE_UNROLL
    for (std::size_t i = 0; i < kPacks; ++i) sums[i] = load(move.from.first + at + place_of(i));
    arrived = 1;
  }
  for (; kReduces && arrived < move.from.count; ++arrived) {
    const std::byte* const place = arrived == 0 ? move.from.first : move.from.others[arrived - 1];
    Pack others[kPacks];
    RINGSIDE_UNROLL
    for (std::size_t i = 0; i < kPacks; ++i) others[i] = load(place + at + place_of(i));
    reduce_packs(block.reduction, sums, others);
  }
  if (move.to.multicast != nullptr) {
    RINGSIDE_UNROLL
    for (std::size_t i = 0; i < kPacks; ++i) {
      machine.multicast_pack(move.to.multicast + at + place_of(i), sums[i]);
    }
  }
  for (int sent = 0; sent < move.to.count; ++sent) {
    std::byte* const place = sent == 0 ? move.to.first : move.to.others[sent - 1];
    RINGSIDE_UNROLL
    for (std::size_t i = 0; i < kPacks; ++i) {
      if (kWhole) {
        machine.store_pack(place + at + place_of(i), sums[i]);
      } else {
        machine.store_part(place + at + place_of(i), sums[i], bytes);
      }
    }
  }
  if (!move.writes_output) return;
  if (kReduces && block.reduction.divisor != 0) {
    for (std::size_t i = 0; i < kPacks; ++i) sums[i] = divided_pack(block.reduction, sums[i]);
  }
  RINGSIDE_UNROLL
  for (std::size_t i = 0; i < kPacks; ++i) {
    if (kWhole) {
      machine.write_pack(move.output + at + place_of(i), sums[i]);
    } else {
      machine.write_part(move.output + at + place_of(i), sums[i], bytes);
    }
  }
}

}  // namespace ringside
