#include "engine/cuda/gpu/gpu.h"

namespace ringside {
namespace {

Error built_without() {
  return {ErrorCode::System, "this ringside was built without CUDA",
          "configure with the preset cuda where nvcc is: cmake --preset cuda"};
}

}  // namespace

Result<std::unique_ptr<Gpu>> Gpu::open(int /*device*/) { return built_without(); }
int Gpu::count() { return 0; }
Result<int> Gpu::current() { return built_without(); }
Status Gpu::set_current(int /*device*/) { return built_without(); }
Status Gpu::synchronize(DeviceStream /*stream*/) { return built_without(); }
Result<bool> Gpu::is_done(DeviceStream /*stream*/) { return built_without(); }

}  // namespace ringside
