#pragma once

#include <span>
#include <string_view>

#include "base/algorithms.h"
#include "base/result.h"
#include "base/words.h"
#include "ringside/units.h"
#include "ringside/vocabulary.h"

/// The names of collectives and algorithms, and the combinations of words that ringside supports.
namespace ringside {

/// Checks that the algorithm supports the collective (has_algorithm()).
/// errors  Unsupported: it does not; the error names the algorithms that do
Status check_algorithm(Collective collective, Algorithm algorithm);

/// Return the names of all collectives, or of all algorithms, in the order of the enumerators.
std::span<const std::string_view> collective_names();
std::span<const std::string_view> algorithm_names();

/// Returns whether NCCL has kernels of the algorithm for the reduction of elements of the type. Most algorithms have all.
/// PAT has none that scale elements: avg, mulsum. NVLS and NVLS tree, where the NVSwitch reduces, have sum, min and max
/// of 32-bit and 64-bit integers, half and bfloat16; only sum of float and double; none of 8-bit integers and FP8.
/// source  NCCL 2.30.7 device/generate.py, enqueue.cc
bool can_reduce(Algorithm algorithm, DataType type, RedOp op);

}  // namespace ringside
