#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/cuda/device/device_call.h"
#include "ringside/units.h"

namespace ringside {

/// How far one end of a connection has come, as observers see it while kernels run.
struct DeviceProgress {
  std::uint64_t messages = 0;    ///< DeviceEnd::step
  std::uint64_t is_waiting = 0;  ///< 1: its kernel has waited for it for a while, and still does
};

/// How the slots of one connection and their counters lie in one piece of memory, for all that map it: a GPU, two
/// processes, a kernel and a proxy.
///
/// shape      memory: memory_for() bytes, at first 0, aligned to 128 bytes
/// Ownership  the memory is the caller's
class DeviceFifo {
 public:
  /// Counters lie apart, so that polling one does not disturb writes to another. Those of DeviceEnd::step lie together.
  static constexpr std::size_t kTailAt = 0, kHeadAt = 128, kSendStepAt = 256, kRecvStepAt = 384,
                               kSizesAt = 512, kCreditAt = 640, kCreditsAt = 768, kSlotsAt = 896;

  static constexpr Bytes memory_for(Protocol protocol, Bytes slot, int slots) {
    const std::int64_t one = device_slot_memory(protocol, static_cast<std::int64_t>(slot.value));
    return Bytes{kSlotsAt + static_cast<std::uint64_t>(one) * static_cast<std::uint64_t>(slots)};
  }

  explicit DeviceFifo(std::byte* memory) : memory_(memory) {}

  /// Where a DeviceProgress lies.
  [[nodiscard]] std::byte* progress(bool receives) const {
    return memory_ + (receives ? kRecvStepAt : kSendStepAt);
  }

  /// for_proxy  of a sending end: DeviceEnd::sizes
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
