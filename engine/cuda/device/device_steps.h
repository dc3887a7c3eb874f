#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/collectives/integers.h"
#include "engine/cuda/device/device_call.h"

namespace ringside {

/// Calls visit(end) for those of the ends (one bit each) that belong to a lane. All lanes visit at the same time, so a
/// wait in a visit (a release waits for all earlier stores) costs its time once.
template <typename Visit>
RINGSIDE_HD void for_each_end_of_lane(std::uint64_t ends, int lane, Visit&& visit) {
  static_assert(kMostDeviceEnds == 2 * kLanesOfWarp);
  for_each_bit(ends & std::uint64_t{0x1'0000'0001} << lane, visit);
}

/// The next message of each of a block's ends, kept from call to call in DeviceEnd::step.
///
/// Cost  a short call mostly waits for memory. Each lane loads one end, so the loads overlap, and a call does not
///       check again for room that is known
struct DeviceSteps {
  static constexpr int kRoomAt = 2;  ///< in DeviceEnd::step

  std::uint64_t recv[kMostDeviceEnds];
  std::uint64_t send[kMostDeviceEnds];
  /// Messages below this number need no check of the head. Stores the low bits, which suffice because no message is
  /// further ahead than the number of slots.
  std::uint32_t room_until[kMostDeviceEnds];

  template <typename Machine>
  RINGSIDE_HD void load(Machine& machine, const DeviceBlock& block) {
    machine.each_lane([&](int lane) {
      const int count = block.recv_count + block.send_count;
      for (int turn = lane; turn < count; turn += kLanesOfWarp) {
        const int end = turn - block.recv_count;
        // Loads both sides together, so that the lanes of one side need not wait for those of the other.
        const DeviceEnd& its = end < 0 ? block.recv_ends[turn] : block.send_ends[end];
        const std::uint64_t step = its.step[0], room = its.step[kRoomAt];
        (end < 0 ? recv[turn] : send[end]) = step;
        if (end >= 0) room_until[end] = static_cast<std::uint32_t>(room > step ? room : step);
      }
    });
  }
};

/// The state of a warp for its block's ends: Machine::warp_memory(). Its lanes share it, in shared memory on a GPU:
/// arrays that are indexed by end take 3 KiB, which CUDA would otherwise reserve for each thread that the GPU can
/// hold.
///
/// Ordering  one lane writes an entry, and a barrier of the warp separates that from the other lanes' reads
struct DeviceWarpMemory {
  DeviceSteps steps;
  std::byte* outputs[kMostDeviceEnds];            ///< DeviceCredits
  const std::byte* sources[kMostDeviceEnds - 1];  ///< DevicePlaces: all but the first
  std::byte* targets[kMostDeviceEnds - 1];
};

}  // namespace ringside
