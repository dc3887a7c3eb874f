#pragma once

#include <cstdint>

#include "engine/collectives/ports.h"
#include "engine/cuda/device/device_call.h"
#include "engine/cuda/device/device_credits.h"
#include "engine/cuda/device/device_steps.h"
#include "engine/cuda/device/device_wait.h"

namespace ringside {

/// The ends of one block as one warp of one strand sees them: which message is next on each, and the waits that
/// guard it. Each warp counts for itself (DeviceWarpMemory) and all count alike, so that none needs a message.
///
/// Ordering   every load of a counter is ld.acquire.sys, every store st.release.sys: what a sender has stored
///            into a slot before its tail is seen by a warp that has seen the tail, and what a receiver has loaded
///            from a slot comes before its head. A warp waits or signals for its whole strand, so a barrier of the
///            strand separates that from the others' loads and stores: PTX orders causally through both.
/// Multicast  a head reaches the slots of a switch's members at another address than they do, so what the one and the
///            other do is ordered only across a proxy fence. One on the way is enough, so heads alone have them: behind
///            their waits, and before they signal (move_simple.h)
/// source     PTX ISA 9.0, chapter 8, Memory Consistency Model: 8.8 morally strong, 8.9 release and acquire
///            patterns, 8.9.6 causality order; bar.sync orders memory among the threads that take part. Virtual aliases
///            count as distinct proxies (Proxies): what is done at the one is before what is done at the other only
///            where an alias proxy fence lies along the base causality path between (proxy-preserved base causality order)
template <typename Machine>
class DeviceEnds {
 public:
  RINGSIDE_HD DeviceEnds(Machine& machine, const DeviceBlock& block)
      : machine_(machine), block_(block), credits_(machine, block) {
    steps().load(machine, block);
  }

  /// Calls visit(end) for each end behind the ports, in the order of reduction.
  template <typename Visit>
  RINGSIDE_HD void for_each_recv(Ports ports, Visit&& visit) const {
    for_each_port(ports, [&](int port) {
      for (int end = block_.recv_first[port]; end < block_.recv_first[port + 1]; ++end) visit(end);
    });
  }
  template <typename Visit>
  RINGSIDE_HD void for_each_send(Ports ports, Visit&& visit) const {
    for_each_port(ports, [&](int port) {
      for (int end = block_.send_first[port]; end < block_.send_first[port + 1]; ++end) visit(end);
    });
  }

  [[nodiscard]] RINGSIDE_HD std::uint64_t recv_step(int end) const { return steps().recv[end]; }
  [[nodiscard]] RINGSIDE_HD std::uint64_t send_step(int end) const { return steps().send[end]; }

  /// Where the next message of an end lies; of one with `multicast`, in the slots of all members.
  [[nodiscard]] RINGSIDE_HD const std::byte* recv_slot(int end) const {
    return slot_of(block_.recv_ends[end], recv_step(end));
  }
  [[nodiscard]] RINGSIDE_HD std::byte* send_slot(int end) const {
    return slot_of(block_.send_ends[end], send_step(end));
  }

  [[nodiscard]] RINGSIDE_HD DeviceCredits<Machine>& credits() { return credits_; }

  /// Waits until each end of `to` has room for a message; what is stored directly needs none. Each warp for itself.
  /// returns  false: the warp has given up, and has said so in its report
  RINGSIDE_HD bool wait_for_room(Ports to, const DirectStep& direct = {}) {
    DeviceWait<Machine> wait(machine_, block_);
    int waits_on = -1;
    bool is_credit = false;
    for_each_send(to, [&](int end) {
      if (waits_on < 0 && !credits_.wait_for(end, direct, wait)) {
        waits_on = end;
        is_credit = true;
      }
      if (waits_on >= 0 || credits_.output_of(end, direct) != nullptr) return;
      const std::uint64_t step = send_step(end);
      std::uint64_t room = steps().room_until[end];
      if (step < room) return;
      while (waits_on < 0 && step >= room) {
        // Lane 0's answer for all: each might see another one, and part from the warp.
        const std::uint64_t head = machine_.from_first_lane(
            [&] { return machine_.load_acquire(block_.send_ends[end].head); });
        room = head + static_cast<std::uint64_t>(block_.slots);
        if (step >= room && wait.is_over(block_.send_ends[end].step)) waits_on = end;
      }
      // What lane 0 has acquired holds for the other lanes behind the barrier of the warp that ends this.
      machine_.each_lane([&](int lane) {
        if (lane == 0) steps().room_until[end] = room;
      });
    });
    if (waits_on < 0) wait.end();
    if (waits_on >= 0) report(wait.outcome(), waits_on, is_credit ? 2 : 1);
    return waits_on < 0;
  }

  /// Simple: waits until a message lies in each end of `from`.
  /// returns  as above
  RINGSIDE_HD bool wait_for_tails(Ports from) {
    DeviceWait<Machine> wait(machine_, block_);
    int waits_on = -1;
    for_each_recv(from, [&](int end) {
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

  /// Notes why this warp has given up, unless one before it has said why it did, and has all others give up.
  /// waits_for  DeviceReport::waits_for_room
  RINGSIDE_HD void report(DeviceOutcome outcome, int end, std::uint32_t waits_for) {
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

  /// One warp of the strand, once all of its warps are done with the slots: gives those of `from` back, and
  /// posts those of `to`. The next call goes on from the steps that are kept here, and observers read them.
  /// bytes       of the message
  /// has_flags   its lines signal their own arrival: only a proxy needs the counter
  RINGSIDE_HD void signal(Ports from, Ports to, std::int64_t bytes, bool has_flags) {
    machine_.each_lane([&](int lane) {
      int turn = 0;
      for_each_recv(from, [&](int end) {
        if (turn++ % kLanesOfWarp != lane) return;
        machine_.store_release(block_.recv_ends[end].head, recv_step(end) + 1);
        machine_.store_relaxed(block_.recv_ends[end].step, recv_step(end) + 1);
      });
      for_each_send(to, [&](int end) {
        if (turn++ % kLanesOfWarp != lane) return;
        const DeviceEnd& to_end = block_.send_ends[end];
        const std::uint64_t step = send_step(end);
        machine_.store_relaxed(to_end.step, step + 1);
        to_end.step[DeviceSteps::kRoomAt] = steps().room_until[end];
        if (to_end.sizes != nullptr) {
          to_end.sizes[slot_index(step)] = static_cast<std::uint32_t>(bytes);
        } else if (has_flags) {
          return;
        }
        machine_.store_release(to_end.tail, step + 1);
      });
    });
  }

  /// Every warp: on to the next message.
  RINGSIDE_HD void advance(Ports from, Ports to) {
    machine_.sync_warp();  // a lane may still read its step
    machine_.each_lane([&](int lane) {
      for_each_recv(from, [&](int end) {
        if (end % kLanesOfWarp == lane) ++steps().recv[end];
      });
      for_each_send(to, [&](int end) {
        if (end % kLanesOfWarp == lane) ++steps().send[end];
      });
    });
  }

 private:
  [[nodiscard]] RINGSIDE_HD DeviceSteps& steps() const { return machine_.warp_memory().steps; }
  [[nodiscard]] RINGSIDE_HD std::byte* slot_of(const DeviceEnd& end, std::uint64_t step) const {
    std::byte* const slots = end.multicast != nullptr ? end.multicast : end.slots;
    return slots + slot_index(step) * device_slot_memory(block_.protocol, block_.slot);
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
