#pragma once

#include "base/words.h"

namespace ringside {

/// Threads of a block at most: registers enough for each (kernels.cu).
inline constexpr int kMostThreadsOfBlock = 512;

/// The kernel of a collective, for cudaLaunchCooperativeKernel(): it takes one DeviceLaunch.
const void* kernel_of(Collective collective);

}  // namespace ringside
