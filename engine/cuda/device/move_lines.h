#pragma once

#include <cstdint>

#include "engine/collectives/integers.h"
#include "engine/cuda/device/move_simple.h"

/// LL and LL128: data and flags are in the same lines, so no counter signals arrival. In both protocols each lane
/// transfers 16 bytes, at offset 16 x unit of the slot.
namespace ringside {

/// LL: a unit is one line of two 8-byte words, each with 4 bytes of data and 4 of flag (the low 32 bits of step + 1).
///
/// Ordering   each word is one 64-bit relaxed store and one 64-bit relaxed load, both with .sys scope: morally strong,
///            so single-copy atomic; flag and data are never separated. Lines are not ordered among each other,
///            because each is checked separately. (A .v2.b64 access counts as two 64-bit accesses, in any order.)
/// source     PTX ISA 9.0, 8.2.2 Vector Data-types, 8.8 Morally strong operations
struct LlUnits {
  static constexpr Protocol kProtocol = Protocol::LL;
  RINGSIDE_HD static std::int64_t count(std::int64_t bytes) { return ceil_div(bytes, 8); }
  RINGSIDE_HD static std::int64_t data_at(std::int64_t unit) { return unit * 8; }
  RINGSIDE_HD static std::int64_t data_bytes(std::int64_t /*unit*/) { return 8; }
  RINGSIDE_HD static bool has_arrived(const Pack& wire, std::int64_t /*unit*/, std::uint64_t step) {
    const auto flag = static_cast<std::uint32_t>(step + 1);
    return static_cast<std::uint32_t>(wire.low >> 32) == flag &&
           static_cast<std::uint32_t>(wire.high >> 32) == flag;
  }
  RINGSIDE_HD static Pack data_of(const Pack& wire) {
    return {(wire.low & 0xFFFFFFFFU) | wire.high << 32, 0};
  }
  RINGSIDE_HD static Pack wire_of(const Pack& data, std::int64_t /*unit*/, std::uint64_t step) {
    const std::uint64_t flag = std::uint64_t{static_cast<std::uint32_t>(step + 1)} << 32;
    return {flag | (data.low & 0xFFFFFFFFU), flag | data.low >> 32};
  }
  template <typename Machine>
  RINGSIDE_HD static void store(Machine& machine, std::byte* to, const Pack& wire) {
    machine.store_words(to, wire);
  }
};

/// LL128: a line of 128 bytes is 8 units; the last one ends with the flag, step + 1 in 64 bits.
///
/// Ordering   the 8 lanes of a line store it in one instruction of the warp, and load it in one. PTX guarantees
///            nothing beyond 8 bytes; NVLink and the L2 of GPUs from Volta on transfer such a line whole, on which
///            NCCL's LL128 also relies. Over other links (PCIe) it must not be chosen: DeviceMemory::keeps_lines().
///            64-bit flags never repeat.
struct Ll128Units {
  static constexpr Protocol kProtocol = Protocol::LL128;
  RINGSIDE_HD static std::int64_t count(std::int64_t bytes) { return ceil_div(bytes, 120) * 8; }
  RINGSIDE_HD static std::int64_t data_at(std::int64_t unit) {
    return unit / 8 * 120 + unit % 8 * 16;
  }
  RINGSIDE_HD static std::int64_t data_bytes(std::int64_t unit) { return unit % 8 == 7 ? 8 : 16; }
  RINGSIDE_HD static bool has_arrived(const Pack& wire, std::int64_t unit, std::uint64_t step) {
    return unit % 8 != 7 || wire.high == step + 1;
  }
  RINGSIDE_HD static Pack data_of(const Pack& wire) { return wire; }
  RINGSIDE_HD static Pack wire_of(const Pack& data, std::int64_t unit, std::uint64_t step) {
    return {data.low, unit % 8 == 7 ? step + 1 : data.high};
  }
  template <typename Machine>
  RINGSIDE_HD static void store(Machine& machine, std::byte* to, const Pack& wire) {
    machine.store_line(to, wire);
  }
};

/// Transfers the units of one message, 32 at a time per warp.
/// returns  false: this warp has given up
template <bool kReduces, typename Units, typename Machine>
RINGSIDE_HD bool pass_units(Machine& machine, const DeviceBlock& block, DeviceEnds<Machine>& ends,
                            const DeviceSlice& slice) {
  const std::int64_t units = Units::count(slice.bytes);
  const DeviceReduction& reduction = block.reduction;
  const auto data_here = [&](std::int64_t unit) {
    return static_cast<int>(smaller(Units::data_bytes(unit), slice.bytes - Units::data_at(unit)));
  };
  const std::int64_t stride = std::int64_t{machine.warps()} * kLanesOfWarp;
  for (std::int64_t first = std::int64_t{machine.warp()} * kLanesOfWarp; first < units;
       first += stride) {
    typename Machine::template PerLane<Pack> sums;
    machine.each_lane([&](int lane) {
      const std::int64_t unit = first + lane;
      const int bytes = unit < units ? data_here(unit) : 0;
      Pack own;
      if (slice.parts.reads_input && bytes > 0) {
        own = load_bytes(slice.input + Units::data_at(unit), bytes);
        if (kReduces && reduction.is_scaled) own = scaled_pack(reduction, own);
      }
      sums[lane] = own;
    });
    bool has_sum = slice.parts.reads_input;
    int waits_on = -1;
    DeviceWait<Machine> wait(machine, block);
    for_each_bit(slice.from, [&](int end) {
      const std::byte* const slot = ends.recv_slot(end);
      const std::uint64_t step = ends.recv_step(end);
      typename Machine::template PerLane<Pack> arrived;
      while (waits_on < 0 && !machine.all_lanes([&](int lane) {
        const std::int64_t unit = first + lane;
        if (unit >= units) return true;
        const Pack wire = machine.load_line(slot + unit * 16);
        arrived[lane] = Units::data_of(wire);
        return Units::has_arrived(wire, unit, step);
      })) {
        if (wait.is_over(block.recv_ends[end].step)) waits_on = end;
      }
      if (waits_on >= 0) return;
      machine.each_lane([&](int lane) {
        if (first + lane >= units) return;
        sums[lane] =
            kReduces && has_sum ? reduce_pack(reduction, sums[lane], arrived[lane]) : arrived[lane];
      });
      has_sum = true;
    });
    if (waits_on < 0) wait.end();
    if (waits_on >= 0) {
      ends.report(wait.outcome(), waits_on, 0);
      return false;
    }
    // All lanes store together, without other instructions in between: this keeps LL128's lines whole.
    for_each_bit(slice.to, [&](int end) {
      std::byte* const slot = ends.send_slot(end);
      const std::uint64_t step = ends.send_step(end);
      machine.each_lane([&](int lane) {
        const std::int64_t unit = first + lane;
        if (unit < units) {
          Units::store(machine, slot + unit * 16, Units::wire_of(sums[lane], unit, step));
        }
      });
    });
    if (!slice.parts.writes_output) continue;
    machine.each_lane([&](int lane) {
      const std::int64_t unit = first + lane;
      const int bytes = unit < units ? data_here(unit) : 0;
      if (bytes <= 0) return;
      const Pack sum =
          kReduces && reduction.divisor != 0 ? divided_pack(reduction, sums[lane]) : sums[lane];
      store_bytes(slice.output + Units::data_at(unit), sum, bytes);
    });
  }
  return true;
}

/// Overwrites the old data of longer messages in LL's slots: writes_every_line().
template <typename Machine>
RINGSIDE_HD void clean_slots(Machine& machine, const DeviceBlock& block, DeviceEnds<Machine>& ends,
                             const DeviceSlice& slice) {
  const std::int64_t most = block.slot_memory / 16;
  const std::int64_t stride = std::int64_t{machine.warps()} * kLanesOfWarp;
  for_each_bit(slice.to, [&](int end) {
    const std::uint64_t step = ends.send_step(end);
    if (!writes_every_line(step, block.slots)) return;
    std::byte* const slot = ends.send_slot(end);
    machine.each_lane([&](int lane) {
      std::int64_t unit = std::int64_t{machine.warp()} * kLanesOfWarp + lane;
      for (; unit < most; unit += stride) {
        if (unit < LlUnits::count(slice.bytes)) continue;
        machine.store_words(slot + unit * 16, LlUnits::wire_of({}, unit, step));
      }
    });
  });
}

/// Ordering   heads are stored after a barrier, so after the loads of every warp; the sender loads them with
///            ld.acquire.sys before it writes the slot again
/// returns    false: the strand has given up, on all its warps
template <bool kReduces, typename Units, typename Machine>
RINGSIDE_HD bool move_lines(Machine& machine, const DeviceBlock& block, DeviceEnds<Machine>& ends,
                            const DeviceSlice& slice) {
  const bool is_done =
      ends.wait_for_room(slice.to) && pass_units<kReduces, Units>(machine, block, ends, slice);
  if (machine.any_in_strand(!is_done)) return false;
  if constexpr (Units::kProtocol == Protocol::LL) clean_slots(machine, block, ends, slice);
  if (machine.warp() == 0) ends.signal(slice.from, slice.to, slice.bytes, true);
  ends.advance(slice.from, slice.to);
  return true;
}

}  // namespace ringside
