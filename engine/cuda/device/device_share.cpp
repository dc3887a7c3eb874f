#include "engine/cuda/device/device_share.h"

#include <algorithm>

namespace ringside {

Result<DevicePlace> with_settings(DevicePlace place, const MemorySettings& settings) {
  if (settings.may_open && settings.by_file.value_or(false) && !place.shares_by_file) {
    return Error{ErrorCode::Unsupported,
                 "NCCL_CUMEM_ENABLE=1, and this GPU shares no memory by file descriptors",
                 "unset it: CUDA IPC serves as well; or install a driver of CUDA 12 or newer"};
  }
  place.shares_by_file = place.shares_by_file && settings.by_file.value_or(true);
  place.has_multicast = place.has_multicast && settings.may_open && settings.by_switch;
  return place;
}

MemoryAccess access_between_processes(std::span<const DevicePlace> places) {
  return std::ranges::all_of(places, &DevicePlace::shares_by_file) ? MemoryAccess::File
                                                                   : MemoryAccess::Ipc;
}

bool can_open(const DevicePlace& mine, const DevicePlace& other, MemoryAccess between_processes) {
  if (mine.process == other.process || between_processes == MemoryAccess::File) return true;
  return mine.shares_by_ipc && other.shares_by_ipc;
}

}  // namespace ringside
