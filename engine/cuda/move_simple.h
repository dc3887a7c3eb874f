#pragma once

#include <cstdint>

#include "engine/cuda/device_ends.h"
#include "engine/cuda/pack.h"

namespace ringside {

/// One message's worth of a step: bytes at the same place of input and output, what is done with them, and the
/// ports.
struct DeviceSlice {
  PrimitiveParts parts = {};
  const std::byte* input = nullptr;
  std::byte* output = nullptr;
  std::int64_t bytes = 0;
  Ports from = kNoPorts;
  Ports to = kNoPorts;
};

/// Addresses of some ends' slots. Of most steps there is one, which stays in a register.
template <typename Byte>
struct DevicePlaces {
  int count = 0;  ///< without `multicast`
  /// Slots of all members of a switch: no step has more than one such port on a side, and none that receives from it
  /// reads the input, since heads put their share into the switch like everybody (nvls.h). Null: none
  Byte* multicast = nullptr;
  Byte* first = nullptr;
  Byte* others[kMostDeviceEnds - 1];

  RINGSIDE_HD void add(Byte* place, bool is_multicast) {
    if (is_multicast) {
      multicast = place;
      return;
    }
    if (count == 0) {
      first = place;
    } else {
      others[count - 1] = place;
    }
    ++count;
  }
};

/// Packs of a slice in flight on a lane.
template <bool kReduces, std::size_t kPacks, typename Machine>
RINGSIDE_HD void move_group(Machine& machine, const DeviceBlock& block, const DeviceSlice& slice,
                            const DevicePlaces<const std::byte>& from,
                            const DevicePlaces<std::byte>& to, std::int64_t at, std::int64_t stride,
                            int bytes) {
  const auto place_of = [stride](std::size_t i) { return static_cast<std::int64_t>(i) * stride; };
  Pack sums[kPacks];
  int arrived = 0;
  if (slice.parts.reads_input) {
    RINGSIDE_UNROLL
    for (std::size_t i = 0; i < kPacks; ++i)
      sums[i] = load_bytes(slice.input + at + place_of(i), bytes);
    if (kReduces && block.reduction.is_scaled) {
      for (std::size_t i = 0; i < kPacks; ++i) sums[i] = scaled_pack(block.reduction, sums[i]);
    }
  } else if (kReduces && from.multicast != nullptr) {
    machine.load_reduced(block.reduction, from.multicast + at, stride, sums);
  } else if (from.count > 0) {
    RINGSIDE_UNROLL
    for (std::size_t i = 0; i < kPacks; ++i)
      sums[i] = machine.load_pack(from.first + at + place_of(i));
    arrived = 1;
  }
  for (; kReduces && arrived < from.count; ++arrived) {
    const std::byte* const place = arrived == 0 ? from.first : from.others[arrived - 1];
    Pack others[kPacks];
    RINGSIDE_UNROLL
    for (std::size_t i = 0; i < kPacks; ++i)
      others[i] = machine.load_pack(place + at + place_of(i));
    reduce_packs(block.reduction, sums, others);
  }
  if (to.multicast != nullptr) {
    RINGSIDE_UNROLL
    for (std::size_t i = 0; i < kPacks; ++i) {
      machine.multicast_pack(to.multicast + at + place_of(i), sums[i]);
    }
  }
  for (int sent = 0; sent < to.count; ++sent) {
    std::byte* const place = sent == 0 ? to.first : to.others[sent - 1];
    RINGSIDE_UNROLL
    for (std::size_t i = 0; i < kPacks; ++i) machine.store_pack(place + at + place_of(i), sums[i]);
  }
  if (!slice.parts.writes_output) return;
  if (kReduces && block.reduction.divisor != 0) {
    for (std::size_t i = 0; i < kPacks; ++i) sums[i] = divided_pack(block.reduction, sums[i]);
  }
  RINGSIDE_UNROLL
  for (std::size_t i = 0; i < kPacks; ++i)
    store_bytes(slice.output + at + place_of(i), sums[i], bytes);
}

/// Simple: the data in a slot, whose arrival the tail tells.
///
/// Ordering   warp 0 waits for tails and heads (ld.acquire.sys); behind the barrier all warps load and store;
///            behind the second one warp 0 tells (st.release.sys). Release and acquire are cumulative, and bar.sync
///            orders among the strand's threads, so the other warps' stores are before the tail as well.
///            Towards a switch warp 0 has a proxy fence in both places, by the lanes that wait and tell (device_ends.h)
/// kReduces   whether the collective does: others have one sender behind their ports, and no arithmetic
/// returns    false: the strand has given up, on all its warps
template <bool kReduces, typename Machine>
RINGSIDE_HD bool move_simple(Machine& machine, const DeviceBlock& block, DeviceEnds<Machine>& ends,
                             const DeviceSlice& slice) {
  constexpr int kUnrolled = 4;
  DevicePlaces<const std::byte> from;
  DevicePlaces<std::byte> to;
  ends.for_each_recv(slice.from, [&](int end) {
    from.add(ends.recv_slot(end), block.recv_ends[end].multicast != nullptr);
  });
  ends.for_each_send(slice.to, [&](int end) {
    to.add(ends.send_slot(end), block.send_ends[end].multicast != nullptr);
  });
  const bool is_head = from.multicast != nullptr || to.multicast != nullptr;
  const bool is_there =
      machine.warp() != 0 || (ends.wait_for_tails(slice.from) && ends.wait_for_room(slice.to));
  if (is_head && machine.warp() == 0) machine.fence_aliases();
  if (machine.any_in_strand(!is_there)) return false;
  const std::int64_t packs = slice.bytes / 16;
  const std::int64_t lanes = std::int64_t{machine.warps()} * kLanesOfWarp;
  machine.each_lane([&](int lane) {
    std::int64_t pack = std::int64_t{machine.warp()} * kLanesOfWarp + lane;
    for (; pack + (kUnrolled - 1) * lanes < packs; pack += kUnrolled * lanes) {
      move_group<kReduces, kUnrolled>(machine, block, slice, from, to, pack * 16, lanes * 16, 16);
    }
    for (; pack < packs; pack += lanes) {
      move_group<kReduces, 1>(machine, block, slice, from, to, pack * 16, 0, 16);
    }
    const auto rest = static_cast<int>(slice.bytes % 16);
    if (pack == packs && rest != 0) {
      move_group<kReduces, 1>(machine, block, slice, from, to, pack * 16, 0, rest);
    }
  });
  machine.any_in_strand(false);
  if (machine.warp() == 0) {
    if (is_head) machine.fence_aliases();
    ends.tell(slice.from, slice.to, slice.bytes, false);
  }
  ends.advance(slice.from, slice.to);
  return true;
}

}  // namespace ringside
