#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/cuda/device/device_call.h"
#include "ringside/units.h"

namespace ringside {

/// The progress of one end of a connection, which observers read while kernels run.
struct DeviceProgress {
  std::uint64_t messages = 0;    ///< DeviceEnd::step
  std::uint64_t is_waiting = 0;  ///< 1: its kernel has been waiting for it for some time
};

/// The layout of a connection's slots and counters in one piece of memory, which two GPUs, two processes, or a kernel
/// and a proxy share.
///
/// shape      memory: memory_for() bytes, initially 0, aligned to 128 bytes
/// Ownership  the memory is the caller's
class DeviceFifo {
 public:
  /// Counters are in separate cache lines, so that polling one does not slow down writes to another. Those of
  /// DeviceEnd::step are together.
  static constexpr std::size_t kTailAt = 0, kHeadAt = 128, kSendStepAt = 256, kRecvStepAt = 384,
                               kSizesAt = 512, kCreditAt = 640, kCreditsAt = 768, kSlotsAt = 896;

  static constexpr Bytes memory_for(Protocol protocol, Bytes slot, int slots) {
    const std::int64_t one = device_slot_memory(protocol, static_cast<std::int64_t>(slot.value));
    return Bytes{kSlotsAt + static_cast<std::uint64_t>(one) * static_cast<std::uint64_t>(slots)};
  }

  explicit DeviceFifo(std::byte* memory) : memory_(memory) {}

  /// Returns the address of an end's DeviceProgress.
  [[nodiscard]] std::byte* progress(bool receives) const {
    return memory_ + (receives ? kRecvStepAt : kSendStepAt);
  }

  /// for_proxy  for a sending end: whether it has DeviceEnd::sizes
  [[nodiscard]] DeviceEnd end(bool receives, bool for_proxy = false) const {
    const auto counter = [&](std::size_t at) {
      return reinterpret_cast<std::uint64_t*>(memory_ + at);
    };
    return {.slots = memory_ + kSlotsAt,
            .tail = counter(kTailAt),
            .head = counter(kHeadAt),
            .step = counter(receives ? kRecvStepAt : kSendStepAt),
            .sizes = for_proxy && !receives ? reinterpret_cast<std::uint32_t*>(memory_ + kSizesAt)
                                            : nullptr,
            .credit = reinterpret_cast<DeviceCredit*>(memory_ + kCreditAt),
            .credits = counter(kCreditsAt)};
  }

 private:
  std::byte* memory_;
};

}  // namespace ringside
