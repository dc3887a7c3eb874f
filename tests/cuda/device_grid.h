#pragma once

#include <vector>

#include "tests/cuda/device_job.h"

namespace ringside {

/// Every collective by every algorithm and protocol that it has, on so many ranks: small and odd sizes, types and
/// operations in turn, in place and not, buffers that lie askew.
std::vector<DeviceCase> device_grid(int nranks);

/// Every type and operation, by ring over each protocol.
std::vector<DeviceCase> device_types(int nranks);

}  // namespace ringside
