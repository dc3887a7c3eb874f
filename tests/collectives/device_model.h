#pragma once

#include <cstdint>

#include "engine/collectives/device_task.h"
#include "engine/collectives/run.h"

namespace ringside {

/// One step as a GPU would execute it.
struct DeviceStep {
  std::int64_t loop = 0;
  std::int32_t chunk = 0;
  Primitive primitive = Primitive::Copy;
  Ports from = kNoPorts;
  Ports to = kNoPorts;
  ChunkSpan span = {};
  friend bool operator==(const DeviceStep&, const DeviceStep&) = default;
};

/// The smallest model that a kernel can have: it reads its task through pointers only, allocates nothing, and writes
/// its steps into memory that it was given. Compiled for hosts by device_task_test.cpp, and for GPUs by
/// device_texts.cu.
class DeviceModel : public NamedPrimitives<DeviceModel> {
 public:
  RINGSIDE_HD DeviceModel(const DeviceTaskView& task, DeviceStep* steps, std::int64_t capacity)
      : task_(task), steps_(steps), capacity_(capacity) {}

  RINGSIDE_HD void begin_loop(std::int64_t loop) { loop_ = loop; }

  template <Primitive kPrimitive>
  RINGSIDE_HD void step(int chunk, Ports from, Ports to) {
    if (count_ < capacity_) {
      steps_[count_] = {loop_, chunk, kPrimitive, from, to, task_.at(loop_, chunk)};
    }
    ++count_;
  }

  /// Returns the number of steps executed, including those beyond the capacity.
  [[nodiscard]] RINGSIDE_HD std::int64_t count() const { return count_; }

 private:
  DeviceTaskView task_;
  DeviceStep* steps_;
  std::int64_t capacity_;
  std::int64_t count_ = 0;
  std::int64_t loop_ = 0;
};

}  // namespace ringside
