#pragma once

#include <cstddef>
#include <span>

#include "base/result.h"
#include "base/units.h"

namespace ringside {

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
};

}  // namespace ringside
