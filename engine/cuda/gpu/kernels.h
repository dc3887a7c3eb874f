#pragma once

#include "base/words.h"

namespace ringside {

/// Threads of a block at most: registers enough for each (kernels.cu).
inline constexpr int kMostThreadsOfBlock = 512;

/// The kernel of a collective, for cudaLaunchCooperativeKernel(): it takes one DeviceLaunch.
const void* kernel_of(Collective collective);

/// What counts wrong elements: it takes the buffer, a PlaceTable and the unsigned long long to which it adds.
const void* kernel_that_checks();

}  // namespace ringside
