#pragma once

#include <vector>

#include "tests/cuda/device_job.h"

namespace ringside {

/// Returns cases of every collective with every algorithm and protocol that it has, on `nranks` ranks, with float32,
/// bfloat16, float16, float8_e4m3 and two of the other types: small and odd sizes, all operations alternately, in place
/// and not, and unaligned buffers.
std::vector<DeviceCase> device_grid(int nranks);

/// Returns whether tests make the call in place.
bool has_in_place(Collective collective);

/// Returns cases of every type and operation, with the ring algorithm and each protocol.
std::vector<DeviceCase> device_types(int nranks);

}  // namespace ringside
