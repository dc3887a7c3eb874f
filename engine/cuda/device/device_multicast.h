#pragma once

#include <cstddef>

#include "base/fd.h"
#include "base/result.h"
#include "engine/cuda/device/switch_slots.h"
#include "ringside/units.h"

namespace ringside {

/// Memory of several GPUs behind one switch, of which each member has a share: DeviceMemory's part of it.
///
/// Ordering   one member makes it; all join it; once all have, each binds its share; once all have, kernels use it
/// Ownership  a share lies there until the DeviceMemory ends
/// Threads    one at a time
class DeviceMulticast {
 public:
  /// How many GPUs of one host, and how large each one's share is. The same on all of them.
  struct Shape {
    int members = 0;
    Bytes size = {};
  };

  virtual ~DeviceMulticast() = default;

  /// returns  what the members join by, this one as well
  /// errors   System: the switch does not take them, or has no room
  virtual Result<UniqueFd> make(const Shape& shape) = 0;
  /// index   which of the members this is
  /// errors  System
  virtual Status join(const UniqueFd& file, const Shape& shape, int index) = 0;
  /// The share in what was joined last; what lies in it is not known.
  /// errors  System: no memory
  virtual Result<SwitchSlots> bind() = 0;
};

}  // namespace ringside
