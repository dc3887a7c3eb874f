#pragma once

#include "base/words.h"

namespace ringside {

/// Threads of a block at most: registers enough for each (kernels.cu).
inline constexpr int kMostThreadsOfBlock = 512;

/// Returns the kernel of a collective for cudaLaunchCooperativeKernel(); its argument is one DeviceLaunch.
const void* kernel_of(Collective collective);

/// Returns the kernel that counts wrong elements. Its arguments: the buffer, a PlaceTable, and the unsigned long long
/// to which it adds.
const void* kernel_that_checks();

}  // namespace ringside
