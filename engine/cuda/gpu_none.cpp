#include "engine/cuda/gpu.h"

namespace ringside {

Result<std::unique_ptr<Gpu>> Gpu::open(int /*device*/) {
  return Error{ErrorCode::System, "this ringside was built without CUDA",
               "configure with the preset cuda where nvcc is: cmake --preset cuda"};
}

int Gpu::count() { return 0; }

}  // namespace ringside
