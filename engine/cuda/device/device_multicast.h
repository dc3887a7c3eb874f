#pragma once

#include <cstddef>

#include "base/fd.h"
#include "base/result.h"
#include "engine/cuda/device/switch_slots.h"
#include "ringside/units.h"

namespace ringside {

/// A multicast object: memory of several GPUs behind one switch, to which each member contributes a share.
///
/// Ordering   one member makes it; all members join it; when all have joined, each binds its share; when all have
///            bound, kernels use it
/// Ownership  a share stays bound until the DeviceMemory is destroyed
/// Threads    one at a time
class DeviceMulticast {
 public:
  /// The number of GPUs, all of one host, and the size of each share; equal on all members.
  struct Shape {
    int members = 0;
    Bytes size = {};
  };

  virtual ~DeviceMulticast() = default;

  /// returns  the file with which the members join, including this one
  /// errors   System: the switch does not accept them, or has no room
  virtual Result<UniqueFd> make(const Shape& shape) = 0;
  /// index   number of this member
  /// errors  System
  virtual Status join(const UniqueFd& file, const Shape& shape, int index) = 0;
  /// Binds this member's share in the object joined last; its content is undefined. errors  System: no memory
  virtual Result<SwitchSlots> bind() = 0;
};

}  // namespace ringside
