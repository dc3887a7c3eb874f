#pragma once

#include <cstdint>

#include "engine/cuda/device_call.h"

namespace ringside {

/// Which message is next on each of a block's ends: a thread's own, from call to call in DeviceEnd::step.
///
/// Cost  a short call is mostly waits for memory: loads of several ends go side by side, and where there is known to be room no
///       call asks for it again
struct DeviceSteps {
  static constexpr int kRoomAt = 2;  ///< in DeviceEnd::step

  std::uint64_t recv[kMostDeviceEnds];
  std::uint64_t send[kMostDeviceEnds];
  std::uint64_t room_until[kMostDeviceEnds];  ///< what may be sent without a look at the head

  RINGSIDE_HD void load(const DeviceBlock& block) {
    constexpr int kTogether = 4;
    const int most = block.recv_count > block.send_count ? block.recv_count : block.send_count;
    for (int first = 0; first < most; first += kTogether) {
      const std::uint64_t* recv_at[kTogether];
      const std::uint64_t* send_at[kTogether];
      RINGSIDE_UNROLL
      for (int i = 0; i < kTogether; ++i) {
        recv_at[i] = first + i < block.recv_count ? block.recv_ends[first + i].step : nullptr;
        send_at[i] = first + i < block.send_count ? block.send_ends[first + i].step : nullptr;
      }
      RINGSIDE_UNROLL
      for (int i = 0; i < kTogether; ++i) {
        if (recv_at[i] != nullptr) recv[first + i] = recv_at[i][0];
        if (send_at[i] == nullptr) continue;
        send[first + i] = send_at[i][0];
        room_until[first + i] = send_at[i][kRoomAt];
      }
    }
  }
};

}  // namespace ringside
