#pragma once

#include <vector>

#include "tests/cuda/device_job.h"

namespace ringside {

/// Every collective by every algorithm and protocol that it has, on so many ranks, of float32, bfloat16, float16 and
/// float8_e4m3, and of two of the other types: small and odd sizes, operations round-robin, in place and not, buffers that lie
/// askew.
std::vector<DeviceCase> device_grid(int nranks);

/// Returns whether tests make the call in place.
bool has_in_place(Collective collective);

/// Every type and operation, by ring over each protocol.
std::vector<DeviceCase> device_types(int nranks);

}  // namespace ringside
