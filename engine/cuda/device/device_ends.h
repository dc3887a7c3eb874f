#pragma once

#include <cstdint>

#include "engine/collectives/integers.h"
#include "engine/collectives/ports.h"
#include "engine/cuda/device/device_call.h"
#include "engine/cuda/device/device_credits.h"
#include "engine/cuda/device/device_steps.h"
#include "engine/cuda/device/device_wait.h"

namespace ringside {

/// The ends of one block, as used by one warp of one strand: the next message of each end, and the waits for it. Each
/// warp keeps its own counts (DeviceWarpMemory); all warps count alike and need no messages for that.
///
/// Ordering   every load of a counter is ld.acquire.sys, every store st.release.sys: a warp that has seen a tail sees
///            what the sender stored into the slot before it, and a receiver's loads from a slot precede its store of
///            the head. A warp waits or signals for its whole strand, and a barrier of the strand separates that from
///            the loads and stores of the other warps: PTX's causality order is transitive through both.
/// Multicast  a head accesses the slots of a switch's members at another address than the members do, so accesses by
///            the two are ordered only across a proxy fence. One fence on the way is sufficient, so only heads execute
///            them: after their waits, and before they signal (move_simple.h)
/// source     PTX ISA 9.0, chapter 8, Memory Consistency Model: 8.8 morally strong, 8.9 release and acquire patterns,
///            8.9.6 causality order; bar.sync orders memory among the participating threads. Virtual aliases count as
///            distinct proxies (Proxies): accesses through one are ordered before accesses through the other only if
///            an alias proxy fence is on the base causality path between them (proxy-preserved base causality order)
template <typename Machine>
class DeviceEnds {
 public:
  RINGSIDE_HD DeviceEnds(Machine& machine, const DeviceBlock& block)
      : machine_(machine), block_(block), credits_(machine, block) {
    steps().load(machine, block);
  }

  /// Returns the ends of the ports, one bit per end. for_each_bit() visits them in the order of reduction.
  [[nodiscard]] RINGSIDE_HD std::uint64_t recv_ends(Ports ports) const {
    return ends_of(block_.recv_of_port, ports);
  }
  [[nodiscard]] RINGSIDE_HD std::uint64_t send_ends(Ports ports) const {
    return ends_of(block_.send_of_port, ports);
  }

  [[nodiscard]] RINGSIDE_HD std::uint64_t recv_step(int end) const { return steps().recv[end]; }
  [[nodiscard]] RINGSIDE_HD std::uint64_t send_step(int end) const { return steps().send[end]; }

  /// Returns the address of an end's next message; with `multicast`, the address in the slots of all members.
  [[nodiscard]] RINGSIDE_HD const std::byte* recv_slot(int end) const {
    return slot_of(block_.recv_ends[end], recv_step(end));
  }
  [[nodiscard]] RINGSIDE_HD std::byte* send_slot(int end) const {
    return slot_of(block_.send_ends[end], send_step(end));
  }

  [[nodiscard]] RINGSIDE_HD DeviceCredits<Machine>& credits() { return credits_; }

  /// Waits until each end of `to` has room for a message, except for messages that are stored directly. Every warp
  /// waits for itself.
  /// returns  false: the warp has given up, and has written its report
  RINGSIDE_HD bool wait_for_room(std::uint64_t to, const DirectStep& direct = {}) {
    DeviceWait<Machine> wait(machine_, block_);
    int waits_on = -1;
    bool is_credit = false;
    for_each_bit(to, [&](int end) {
      if (waits_on < 0 && !credits_.wait_for_credit(end, direct, wait)) {
        waits_on = end;
        is_credit = true;
      }
      if (waits_on >= 0 || credits_.output_of(end, direct) != nullptr) return;
      const std::uint64_t step = send_step(end);
      if (room_left(end) > 0) return;
      machine_.sync_warp();  // a lane may still read what is written below
      std::uint64_t room = step;
      while (waits_on < 0 && step >= room) {
        // All lanes use lane 0's value, because each might read another one, and the warp would diverge.
        const std::uint64_t head = machine_.from_first_lane(
            [&] { return machine_.load_acquire(block_.send_ends[end].head); });
        room = head + static_cast<std::uint64_t>(block_.slots);
        if (step >= room && wait.is_over(block_.send_ends[end].step)) waits_on = end;
      }
      // What lane 0 has acquired is visible to the other lanes after the barrier of the warp at the end.
      machine_.each_lane([&](int lane) {
        if (lane == 0) steps().room_until[end] = static_cast<std::uint32_t>(room);
      });
    });
    if (waits_on < 0) wait.end();
    if (waits_on >= 0) report(wait.outcome(), waits_on, is_credit ? 2 : 1);
    return waits_on < 0;
  }

  /// Simple: waits until each end of `from` has a message.
  /// returns  as wait_for_room()
  RINGSIDE_HD bool wait_for_tails(std::uint64_t from) {
    DeviceWait<Machine> wait(machine_, block_);
    int waits_on = -1;
    for_each_bit(from, [&](int end) {
      std::uint64_t* const tail = block_.recv_ends[end].tail;
      while (waits_on < 0 && !machine_.all_lanes([&](int lane) {
        return lane != 0 || machine_.load_acquire(tail) > recv_step(end);
      })) {
        if (wait.is_over(block_.recv_ends[end].step)) waits_on = end;
      }
    });
    if (waits_on < 0) wait.end();
    if (waits_on >= 0) report(wait.outcome(), waits_on, 0);
    return waits_on < 0;
  }

  /// Stores why this warp has given up, unless its report already holds a failure. After a timeout, makes all other
  /// warps give up.
  /// waits_for  DeviceReport::waits_for_room
  RINGSIDE_HD_CALL void report(DeviceOutcome outcome, int end, std::uint32_t waits_for) {
    DeviceReport& mine = block_.reports[machine_.warp_of_block()];
    machine_.each_lane([&](int lane) {
      if (lane != 0 || mine.outcome != DeviceOutcome::Fine) return;
      mine.peer = waits_for != 0 ? block_.send_ends[end].peer : block_.recv_ends[end].peer;
      mine.waits_for_room = waits_for;
      mine.end = static_cast<std::uint32_t>(end);
      mine.step = waits_for != 0 ? send_step(end) : recv_step(end);
      mine.outcome = outcome;
      if (outcome == DeviceOutcome::TimedOut)
        machine_.store_flag(&block_.control->abort, DeviceControl::kByKernel);
    });
  }

  /// Called by one warp after all warps of the strand have finished with the slots: releases those of `from` and posts
  /// those of `to`. The step counters are stored for the next call and for observers.
  /// bytes       of the message
  /// has_flags   whether its lines signal their own arrival, so that only a proxy needs the counter
  RINGSIDE_HD void signal(std::uint64_t from, std::uint64_t to, std::int64_t bytes,
                          bool has_flags) {
    machine_.each_lane([&](int lane) {
      for_each_end_of_lane(from, lane, [&](int end) {
        machine_.store_release(block_.recv_ends[end].head, recv_step(end) + 1);
        machine_.store_relaxed(block_.recv_ends[end].step, recv_step(end) + 1);
      });
      for_each_end_of_lane(to, lane, [&](int end) {
        const DeviceEnd& to_end = block_.send_ends[end];
        const std::uint64_t step = send_step(end);
        machine_.store_relaxed(to_end.step, step + 1);
        to_end.step[DeviceSteps::kRoomAt] = step + static_cast<std::uint64_t>(room_left(end));
        if (to_end.sizes != nullptr) {
          to_end.sizes[slot_index(step)] = static_cast<std::uint32_t>(bytes);
        } else if (has_flags) {
          return;
        }
        machine_.store_release(to_end.tail, step + 1);
      });
    });
  }

  /// Counts one message on each of these ends. Every warp calls it for itself.
  RINGSIDE_HD void advance(std::uint64_t from, std::uint64_t to) {
    machine_.sync_warp();  // a lane may still read its step
    machine_.each_lane([&](int lane) {
      for_each_end_of_lane(from, lane, [&](int end) { ++steps().recv[end]; });
      for_each_end_of_lane(to, lane, [&](int end) { ++steps().send[end]; });
    });
  }

 private:
  [[nodiscard]] RINGSIDE_HD static std::uint64_t ends_of(const std::uint64_t* of_port,
                                                         Ports ports) {
    std::uint64_t ends = 0;
    for_each_port(ports, [&](int port) { ends |= of_port[port]; });
    return ends;
  }
  /// Returns for how many further messages a sending end is known to have room.
  [[nodiscard]] RINGSIDE_HD std::int32_t room_left(int end) const {
    return static_cast<std::int32_t>(steps().room_until[end] -
                                     static_cast<std::uint32_t>(send_step(end)));
  }
  [[nodiscard]] RINGSIDE_HD DeviceSteps& steps() const { return machine_.warp_memory().steps; }
  [[nodiscard]] RINGSIDE_HD std::byte* slot_of(const DeviceEnd& end, std::uint64_t step) const {
    std::byte* const slots = end.multicast != nullptr ? end.multicast : end.slots;
    return slots + slot_index(step) * block_.slot_memory;
  }
  [[nodiscard]] RINGSIDE_HD std::uint32_t slot_index(std::uint64_t step) const {
    // A division of 64 bits takes a GPU some hundred instructions.
    return static_cast<std::uint32_t>(step) & static_cast<std::uint32_t>(block_.slots - 1);
  }

  Machine& machine_;
  const DeviceBlock& block_;
  DeviceCredits<Machine> credits_;
};

}  // namespace ringside
