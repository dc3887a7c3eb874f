#pragma once

#include <span>
#include <string_view>

#include "base/algorithms.h"
#include "base/result.h"
#include "base/words.h"
#include "ringside/units.h"
#include "ringside/vocabulary.h"

/// Lists of the names of each enumeration, and the combinations that NCCL supports.
namespace ringside {

/// Checks that the algorithm supports the collective.
/// errors  Unsupported: it does not; the error names the algorithms that do
Status check_algorithm(Collective collective, Algorithm algorithm);

/// Return all known names, in the order of the tables.
std::span<const std::string_view> collective_names();
std::span<const std::string_view> algorithm_names();

/// Returns whether NCCL has kernels of the algorithm that reduce elements of the type so. NVSwitches sum, and compare
/// all but the long floats; PAT scales no element.
/// source  NCCL 2.30.7 device/generate.py, enqueue.cc
bool can_reduce(Algorithm algorithm, DataType type, RedOp op);

}  // namespace ringside
