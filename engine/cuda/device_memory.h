#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "base/units.h"
#include "engine/cuda/device_check.h"

namespace ringside {

/// Which GPU, whatever a process numbers it: CUDA's UUID. 0: one whose memory no other process can open.
using DeviceId = std::array<std::byte, 16>;

/// What other processes of the host open memory of a GPU by: as CUDA's IPC has it.
using DeviceHandle = std::array<std::byte, 64>;

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

  /// Elements of `buffer` that are not as they are to be, counted where they lie.
  /// errors  System
  virtual Result<std::int64_t> count_wrong(const std::byte* buffer, const PlaceTable& expected) = 0;

  /// Has kernels see memory of hosts, which several processes may have mapped.
  /// returns  where kernels see it, until unmap()
  /// errors   System
  virtual Result<std::byte*> map(std::span<std::byte> pages) = 0;
  virtual void unmap(std::span<std::byte> pages) noexcept = 0;

  [[nodiscard]] virtual DeviceId id() const = 0;
  /// Whether this process could open memory of that GPU.
  [[nodiscard]] virtual bool reaches(const DeviceId& other) const = 0;
  /// As take(), where other processes are to open it.
  /// shape  id() is not 0
  virtual Result<std::byte*> take_to_share(Bytes size) = 0;
  /// What another process opens by what take_to_share() gave.
  /// errors  System
  virtual Result<DeviceHandle> share(std::byte* memory) = 0;
  /// Opens what another process shares: it lies there until this object ends.
  /// errors  System
  virtual Result<std::byte*> open(const DeviceHandle& handle) = 0;
};

}  // namespace ringside
