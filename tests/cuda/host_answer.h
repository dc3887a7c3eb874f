#pragma once

#include <vector>

#include "tests/cuda/device_job.h"

namespace ringside {

/// What the host executor makes of the cases, on ranks that are threads: [case][rank]. Fills in how it has chosen to
/// run them; the cases request algorithm, protocol, channels and slot.
/// shape  all of as many ranks
std::vector<std::vector<std::vector<std::byte>>> host_answers(std::vector<DeviceCase>& cases);

}  // namespace ringside
