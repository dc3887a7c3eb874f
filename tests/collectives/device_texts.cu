// Every algorithm's text, as nvcc compiles it: run_strand() takes each of them in. Never launched; that it
// compiles is the test (device_code_test.cpp).
#include "tests/collectives/device_model.h"

namespace ringside {

/// One thread that takes the whole task.
extern "C" __global__ void ringside_run_channel(const DeviceTask* task, const std::byte* tables,
                                                DeviceStep* steps, std::int64_t capacity,
                                                std::int64_t* count) {
  const DeviceTaskView view{task, tables};
  DeviceModel model(view, steps, capacity);
  run_channel(model, view);
  *count = model.count();
}

/// A block a strand.
extern "C" __global__ void ringside_run_strand(const DeviceTask* task, const std::byte* tables,
                                               DeviceStep* steps, std::int64_t capacity,
                                               std::int64_t* count) {
  const DeviceTaskView view{task, tables};
  const int strand = static_cast<int>(blockIdx.x);
  DeviceModel model(view, steps + strand * capacity, capacity);
  run_strand_alone(model, view, strand);
  count[strand] = model.count();
}

}  // namespace ringside
