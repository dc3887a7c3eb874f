#pragma once

#include <vector>

#include "tests/cuda/device_job.h"

namespace ringside {

/// Returns the outputs of the host executor for the cases, with threads as ranks: [case][rank]. Stores in the cases
/// how it has chosen to run them; the cases request algorithm, protocol, channels and slot.
///
/// shape  all cases have the same number of ranks
std::vector<std::vector<std::vector<std::byte>>> host_answers(std::vector<DeviceCase>& cases);

}  // namespace ringside
