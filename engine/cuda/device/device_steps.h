#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/cuda/device/device_call.h"

namespace ringside {

/// The next message of each of a block's ends, kept from call to call in DeviceEnd::step.
///
/// Cost  a short call is mostly waits for memory: each lane loads an end, so the loads overlap, and a call does not ask again
///       for room that is known
struct DeviceSteps {
  static constexpr int kRoomAt = 2;  ///< in DeviceEnd::step

  std::uint64_t recv[kMostDeviceEnds];
  std::uint64_t send[kMostDeviceEnds];
  std::uint64_t room_until[kMostDeviceEnds];  ///< messages below this need no look at the head

  template <typename Machine>
  RINGSIDE_HD void load(Machine& machine, const DeviceBlock& block) {
    machine.each_lane([&](int lane) {
      const int count = block.recv_count + block.send_count;
      for (int turn = lane; turn < count; turn += kLanesOfWarp) {
        const int end = turn - block.recv_count;
        if (end < 0) {
          recv[turn] = block.recv_ends[turn].step[0];
        } else {
          const std::uint64_t* const kept = block.send_ends[end].step;
          const std::uint64_t step = kept[0], room = kept[kRoomAt];
          send[end] = step;
          room_until[end] = room;
        }
      }
    });
  }
};

/// What a warp keeps of its block's ends: Machine::warp_memory(). Its lanes share it, in shared memory on a GPU: arrays that are
/// indexed by end take 3 KiB, which CUDA would reserve for each thread that the GPU can hold.
///
/// Ordering  one lane writes an entry, and a barrier of the warp separates that from the other lanes' reads
struct DeviceWarpMemory {
  DeviceSteps steps;
  std::byte* outputs[kMostDeviceEnds];            ///< DeviceCredits
  const std::byte* sources[kMostDeviceEnds - 1];  ///< DevicePlaces: all but the first
  std::byte* targets[kMostDeviceEnds - 1];
};

}  // namespace ringside
