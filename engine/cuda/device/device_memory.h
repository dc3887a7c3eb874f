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

/// Memory that kernels read and write: a GPU's, or of hosts what the tests' fibres use.
///
/// Ownership  what is taken is the object's, and goes with it
/// Threads    one at a time
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;

  /// Aligned to 128 bytes or more, and 0.
  /// errors  System: no memory
  virtual Result<std::byte*> take(Bytes size) = 0;

  /// The same, but hosts and kernels see each other's stores in it while a kernel runs.
  virtual Result<std::byte*> take_shared(Bytes size) = 0;

  /// Between memory of the caller and what was taken.
  /// errors  System
  virtual Status write(std::byte* to, std::span<const std::byte> from) = 0;
  virtual Status read(std::span<std::byte> to, const std::byte* from) = 0;

  /// The same while kernels run, which it neither waits for nor holds up; words of 8 bytes are whole.
  /// Threads  any
  /// shape    at most 64 bytes
  /// errors   System; Timeout: the device gives no answer
  virtual Status look(std::span<std::uint64_t> to, const std::byte* from) = 0;

  /// Elements of `buffer` that are not as they are to be, counted where they lie.
  /// errors  System
  virtual Result<std::int64_t> count_wrong(const std::byte* buffer, const PlaceTable& expected) = 0;

  /// Has kernels see memory of hosts, which several processes may have mapped.
  /// returns  where kernels see it, until unmap()
  /// errors   System
  virtual Result<std::byte*> map(std::span<std::byte> pages) = 0;
  virtual void unmap(std::span<std::byte> pages) noexcept = 0;

  /// What other ranks have to know of it.
  [[nodiscard]] virtual DevicePlace place() const = 0;
  /// Whether kernels here reach memory of that GPU, once it has been opened.
  [[nodiscard]] virtual bool reaches(const DeviceId& other) const = 0;
  /// Whether 128 bytes that a warp stores there at a time arrive whole (LL128): on the GPU itself and by NVLink; not by PCIe.
  [[nodiscard]] virtual bool keeps_lines(const DeviceId& other) const { return reaches(other); }
  /// As take(), where other ranks are to open it.
  /// by     how other processes do: Ipc, or File where place() says so
  /// shape  place().id is not 0
  virtual Result<std::byte*> take_to_share(Bytes size, MemoryWay by) = 0;
  /// What a rank of that process opens by memory that lies in what take_to_share() gave; or, on a GPU, in any allocation.
  /// Only the former stays though this object ends, for ranks of this process.
  /// errors  System
  virtual Result<DeviceShare> share(std::byte* memory, const ProcessIdentity& with) = 0;
  /// Opens what another rank shares: it lies there until this object ends.
  /// errors  System; Corrupt: it is shared with another process
  virtual Result<std::byte*> open(const DeviceShare& share) = 0;

  [[nodiscard]] virtual AdapterAccess adapter_access() const { return {}; }
  /// As take(), where network adapters are to read and write it.
  /// shape   adapter_access().is_there
  /// errors  System: no memory
  virtual Result<AdapterMemory> take_for_adapters([[maybe_unused]] Bytes size) {
    return Error{ErrorCode::Unsupported, "memory that no adapter reaches"};
  }
  /// Makes what adapters have written into it so far visible to kernels, before they are notified.
  /// Threads  any
  /// shape    adapter_access().flush is ByHost
  /// errors   System
  virtual Status flush_arrived() { return {}; }

  /// What a switch does with it, as place().has_multicast says; null: no switch has it. Asked for anew by each thread.
  virtual DeviceMulticast* multicast() { return nullptr; }
};

}  // namespace ringside
