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
  DirectStep direct = {};  ///< Simple alone
  /// Of what is stored directly: in a receiver's output, but for DeviceDirect::shift.
  std::int64_t place = 0;
};

/// Addresses of some ends' slots, or of where messages end. Of most steps there is one, which stays in a register.
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
  [[nodiscard]] RINGSIDE_HD bool is_any() const { return count > 0 || multicast != nullptr; }
};

/// What the lanes of a strand do with one slice, once all that they read is there.
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

/// Packs of a slice in flight on a lane.
/// kWhole  whole packs at aligned places; else one, of `bytes` bytes, wherever it lies
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

/// Where all of a slice comes from and goes to.
template <typename Machine>
RINGSIDE_HD void find_places(const DeviceBlock& block, DeviceEnds<Machine>& ends,
                             const DeviceSlice& slice, DeviceMove& move) {
  std::uintptr_t addresses = 0;
  const auto meets = [&](const std::byte* place) {
    addresses |= reinterpret_cast<std::uintptr_t>(place);
  };
  move.bytes = slice.bytes;
  move.reads_input = slice.parts.reads_input;
  move.input = slice.input;
  move.output = slice.output;
  bool is_there = slice.direct.takes != 0;  // in this rank's output, since it has been told
  ends.for_each_recv(slice.from,
                     [&](int end) { is_there = is_there && ends.credits().is_given(end); });
  move.writes_output = slice.parts.writes_output && !is_there;
  if (move.reads_input) meets(slice.input);
  if (slice.parts.writes_output) meets(slice.output);
  if (is_there) {
    move.from.add(slice.output, false);
  } else {
    ends.for_each_recv(slice.from, [&](int end) {
      move.from.add(ends.recv_slot(end), block.recv_ends[end].multicast != nullptr);
    });
  }
  ends.for_each_send(slice.to, [&](int end) {
    std::byte* const output = ends.credits().output_of(end, slice.direct);
    std::byte* const place =
        output == nullptr ? ends.send_slot(end) : output + ends.credits().shifted(end, slice.place);
    meets(place);
    move.to.add(place, block.send_ends[end].multicast != nullptr);
  });
  move.is_aligned = addresses % sizeof(Pack) == 0;
}

/// Whether a switch loads or stores for this rank.
template <typename Machine>
RINGSIDE_HD bool has_switch(const DeviceBlock& block, const DeviceEnds<Machine>& ends,
                            const DeviceSlice& slice) {
  bool has = false;
  ends.for_each_recv(slice.from,
                     [&](int end) { has |= block.recv_ends[end].multicast != nullptr; });
  ends.for_each_send(slice.to, [&](int end) { has |= block.send_ends[end].multicast != nullptr; });
  return has;
}

/// Simple: the data in a slot, or where it is to end; its arrival is told by the tail.
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
  const bool is_head = has_switch(block, ends, slice);
  const bool is_there = machine.warp() != 0 || (ends.wait_for_tails(slice.from) &&
                                                ends.wait_for_room(slice.to, slice.direct));
  if (is_head && machine.warp() == 0) machine.fence_aliases();
  if (machine.any_in_strand(!is_there)) return false;
  DeviceMove move;
  find_places(block, ends, slice, move);
  const std::int64_t packs = move.to.is_any() || move.writes_output ? ceil_div(slice.bytes, 16) : 0;
  const std::int64_t whole = move.is_aligned ? slice.bytes / 16 : 0;
  const std::int64_t lanes = std::int64_t{machine.warps()} * kLanesOfWarp;
  machine.each_lane([&](int lane) {
    std::int64_t pack = std::int64_t{machine.warp()} * kLanesOfWarp + lane;
    for (; pack + (kUnrolled - 1) * lanes < smaller(packs, whole); pack += kUnrolled * lanes) {
      move_group<kReduces, kUnrolled, true>(machine, block, move, pack * 16, lanes * 16, 16);
    }
    for (; pack < packs; pack += lanes) {
      const auto bytes = static_cast<int>(smaller(std::int64_t{16}, slice.bytes - pack * 16));
      move_group<kReduces, 1, false>(machine, block, move, pack * 16, 0, bytes);
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
