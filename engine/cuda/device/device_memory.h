#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "engine/cuda/device/device_check.h"
#include "engine/cuda/device/device_share.h"
#include "engine/cuda/device/gpu_direct.h"
#include "ringside/units.h"

namespace ringside {

class DeviceMulticast;

/// Memory that kernels read and write: that of a GPU, or host memory for the fibres of tests.
///
/// Ownership  the object owns all memory that it returns, and frees it when it is destroyed
/// Threads    one at a time
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;

  /// Allocates memory that is aligned to 128 bytes or more, and zeroed. errors  System: no memory
  virtual Result<std::byte*> take(Bytes size) = 0;

  /// Allocates as take(), but memory in which the CPU and kernels see each other's stores while a kernel runs.
  /// errors  System: no memory
  virtual Result<std::byte*> take_shared(Bytes size) = 0;

  /// Copies between the caller's memory and allocated memory. errors  System
  virtual Status write(std::byte* to, std::span<const std::byte> from) = 0;
  virtual Status read(std::span<std::byte> to, const std::byte* from) = 0;

  /// Reads allocated memory while kernels run, without waiting for them or delaying them. Each word of 8 bytes is read
  /// at once.
  /// Threads  any
  /// shape    at most 64 bytes
  /// errors   System; Timeout: the device does not answer
  virtual Status look(std::span<std::uint64_t> to, const std::byte* from) = 0;

  /// Counts, on the device, the elements of `buffer` that differ from their expected values. errors  System
  virtual Result<std::int64_t> count_wrong(const std::byte* buffer, const PlaceTable& expected) = 0;

  /// Makes host memory accessible to kernels; several processes may have mapped it.
  /// returns  address for kernels, valid until unmap()
  /// errors   System
  virtual Result<std::byte*> map(std::span<std::byte> pages) = 0;
  virtual void unmap(std::span<std::byte> pages) noexcept = 0;

  /// Returns the properties of this memory that other ranks need.
  [[nodiscard]] virtual DevicePlace place() const = 0;
  /// Returns whether kernels of this GPU can access memory of that GPU, once open() has opened it.
  [[nodiscard]] virtual bool reaches(const DeviceId& other) const = 0;
  /// Returns whether 128 bytes that a warp stores there at a time become visible at once, as LL128 requires: on the GPU
  /// itself and by NVLink, not by PCIe.
  [[nodiscard]] virtual bool keeps_lines(const DeviceId& other) const { return reaches(other); }
  /// Allocates as take(), for memory that other ranks open.
  /// by     how other processes open it: Ipc, or File if place() says so
  /// shape  place().id is not 0
  /// errors  System: no memory, or the driver refuses to share it
  virtual Result<std::byte*> take_to_share(Bytes size, MemoryAccess by) = 0;
  /// Returns a description by which a rank of another process opens `memory`, which is inside memory from
  /// take_to_share() or, on a GPU, inside any allocation. Only memory from take_to_share() stays valid for ranks of
  /// this process after this object is destroyed. errors  System
  virtual Result<DeviceShare> share(std::byte* memory, const ProcessIdentity& with) = 0;
  /// Opens the memory that another rank shares. It stays open until this object is destroyed.
  /// returns  its address for this rank's kernels
  /// errors   System; Corrupt: the description is for another process
  virtual Result<std::byte*> open(const DeviceShare& share) = 0;

  /// Returns what network adapters may do with memory from take_for_adapters().
  [[nodiscard]] virtual AdapterAccess adapter_access() const { return {}; }
  /// Allocates as take(), for memory that network adapters read and write.
  /// shape   adapter_access().is_there
  /// errors  System: no memory
  virtual Result<AdapterMemory> take_for_adapters([[maybe_unused]] Bytes size) {
    return Error{ErrorCode::Unsupported, "memory that no adapter reaches"};
  }
  /// Makes all data that adapters have written into this memory visible to kernels. Call it before notifying a kernel.
  /// Threads  any
  /// shape    adapter_access().flush is ByHost
  /// errors   System
  virtual Status flush_arrived() { return {}; }

  /// Returns the switch operations on this memory if place().has_multicast; null: no switch. Every thread calls it
  /// anew.
  virtual DeviceMulticast* multicast() { return nullptr; }
};

}  // namespace ringside
