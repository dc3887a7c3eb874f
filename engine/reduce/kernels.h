#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/vocabulary.h"

/// The vector loops of ReduceOp, compiled once for each instruction set. All give the same bits, except for the NaN
/// bits that ReduceOp names; tests/reduce checks it.
namespace ringside {

/// The arguments of a kernel: outputs[..][i] = inputs[0][i] op inputs[1][i] op ..., left to right, where each `op`
/// rounds to the element type.
///
/// shape   at least one of each; any alignment; an output may be one of the inputs, and otherwise
///         overlaps none of them
struct KernelArguments {
  std::span<std::byte* const> outputs;
  std::span<const std::byte* const> inputs;
  std::size_t count = 0;     ///< elements
  std::uint64_t scalar = 0;  ///< PreMulSum only: the factor's bits, in the low bytes
};

/// Computes a reduction. It never fails and keeps no state.  Threads  any
using ReduceKernel = void (*)(const KernelArguments& arguments);

/// The kernels of one instruction set.
struct KernelSet {
  const char* name;  ///< Highway's name of the instruction set, such as AVX2
  /// Returns the kernel. The one for PreMulSum first multiplies inputs[0] by the scalar; Avg uses the kernel of Sum.
  ReduceKernel (*find)(DataType type, RedOp op);
};

/// Returns the sets that this processor supports, the fastest first; never empty.
std::span<const KernelSet> kernel_sets();

}  // namespace ringside
