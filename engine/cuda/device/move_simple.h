#pragma once

#include <cstdint>

#include "engine/collectives/integers.h"
#include "engine/cuda/device/device_ends.h"
#include "engine/cuda/device/move_packs.h"

namespace ringside {

/// One message of a step: bytes at the same offset of input and output, the operations on them, and the ends.
struct DeviceSlice {
  PrimitiveParts parts = {};
  const std::byte* input = nullptr;
  std::byte* output = nullptr;
  std::int64_t bytes = 0;
  std::uint64_t from = 0;  ///< ends, a bit each
  std::uint64_t to = 0;
  DirectStep direct = {};  ///< Simple alone
  /// Offset of directly stored data in a receiver's output, before DeviceDirect::shift.
  std::int64_t place = 0;
};

/// The sources and destinations of a slice.
template <typename Machine>
RINGSIDE_HD void find_places(Machine& machine, const DeviceBlock& block, DeviceEnds<Machine>& ends,
                             const DeviceSlice& slice, DeviceMove& move) {
  std::uintptr_t addresses = 0;
  const auto meets = [&](const std::byte* place) {
    addresses |= reinterpret_cast<std::uintptr_t>(place);
  };
  move.from.others = machine.warp_memory().sources;
  move.to.others = machine.warp_memory().targets;
  move.bytes = slice.bytes;
  move.reads_input = slice.parts.reads_input;
  move.input = slice.input;
  move.output = slice.output;
  // In this rank's output, because this rank granted the credit.
  bool is_there = slice.direct.takes != 0;
  for_each_bit(slice.from,
               [&](int end) { is_there = is_there && ends.credits().has_granted(end); });
  move.writes_output = slice.parts.writes_output && !is_there;
  if (move.reads_input) meets(slice.input);
  if (slice.parts.writes_output) meets(slice.output);
  if (is_there) {
    move.from.add(machine, slice.output, false);
  } else {
    for_each_bit(slice.from, [&](int end) {
      move.from.add(machine, ends.recv_slot(end), block.recv_ends[end].multicast != nullptr);
    });
  }
  for_each_bit(slice.to, [&](int end) {
    std::byte* const output = ends.credits().output_of(end, slice.direct);
    std::byte* const place = output == nullptr
                                 ? ends.send_slot(end)
                                 : output + ends.credits().offset_in_output(end, slice.place);
    meets(place);
    move.to.add(machine, place, block.send_ends[end].multicast != nullptr);
  });
  move.is_aligned = addresses % sizeof(Pack) == 0;
}

/// Returns whether a switch loads or stores for this rank.
RINGSIDE_HD inline bool has_switch(const DeviceBlock& block, const DeviceSlice& slice) {
  bool has = false;
  for_each_bit(slice.from, [&](int end) { has |= block.recv_ends[end].multicast != nullptr; });
  for_each_bit(slice.to, [&](int end) { has |= block.send_ends[end].multicast != nullptr; });
  return has;
}

/// Simple: the data is in a slot, or stored directly at its final place; the tail signals its arrival.
///
/// Ordering   warp 0 waits for tails and heads (ld.acquire.sys); after the barrier all warps load and store; after a
///            second barrier warp 0 signals (st.release.sys). Release and acquire are cumulative, and bar.sync orders
///            among the strand's threads, so the other warps' stores also precede the tail. Towards a switch, warp 0
///            executes a proxy fence at both points, in the lanes that wait and signal (device_ends.h)
/// kReduces   whether the collective reduces; other collectives have one sender per port and no arithmetic
/// returns    false: the strand has given up, on all its warps
template <bool kReduces, typename Machine>
RINGSIDE_HD bool move_simple(Machine& machine, const DeviceBlock& block, DeviceEnds<Machine>& ends,
                             const DeviceSlice& slice) {
  constexpr int kUnrolled = 4;
  const bool is_head = has_switch(block, slice);
  const bool is_there = machine.warp() != 0 || (ends.wait_for_tails(slice.from) &&
                                                ends.wait_for_room(slice.to, slice.direct));
  if (is_head && machine.warp() == 0) machine.fence_aliases();
  if (machine.any_in_strand(!is_there)) return false;
  DeviceMove move;
  find_places(machine, block, ends, slice, move);
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
    ends.signal(slice.from, slice.to, slice.bytes, false);
  }
  ends.advance(slice.from, slice.to);
  return true;
}

}  // namespace ringside
