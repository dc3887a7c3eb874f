#include "engine/cuda/launch_batch.h"

#include <algorithm>

namespace ringside {

bool LaunchBatch::add(const DeviceGrid& grid, const DeviceBuffers& buffers, Collective kernel,
                      std::optional<DeviceStream> stream, CallRanges ranges) {
  if (!is_empty()) {
    const bool is_alike = kernel == kernel_ && stream == stream_;
    if (!is_alike ||
        std::ranges::any_of(ranges_, [&](const CallRanges& one) { return depend(one, ranges); })) {
      return false;
    }
  }
  if (!add_work(launch_, grid, std::span(&buffers, 1))) return false;
  kernel_ = kernel;
  stream_ = stream;
  ranges_.push_back(std::move(ranges));
  return true;
}

void LaunchBatch::clear() {
  launch_.works = launch_.buffer_count = 0;
  launch_.places = launch_.channels = launch_.warps = 0;
  ranges_.clear();
}

}  // namespace ringside
