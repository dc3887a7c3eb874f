// Instantiates the code of every algorithm with nvcc: run_strand() includes all of them. It is never launched; that it
// compiles is the test (device_code_test.cpp).
#include "tests/collectives/device_model.h"

namespace ringside {

/// One thread executes the whole task.
extern "C" __global__ void ringside_run_channel(const DeviceTask* task, const std::byte* tables,
                                                DeviceStep* steps, std::int64_t capacity,
                                                std::int64_t* count) {
  const DeviceTaskView view{task, tables};
  DeviceModel model(view, steps, capacity);
  run_channel(model, view);
  *count = model.count();
}

/// One block executes each strand.
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
