#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/vocabulary.h"

/// The vector loops behind ReduceOp. One set of them is compiled for each instruction set; all give the
/// same bits, which tests/reduce holds them to.
namespace ringside {

/// What a kernel works on: outputs[..][i] = inputs[0][i] op inputs[1][i] op ..., left to right, where
/// each `op` rounds to the element type.
///
/// shape   at least one of each; any alignment; an output may be one of the inputs, and otherwise
///         overlaps none of them
struct KernelArguments {
  std::span<std::byte* const> outputs;
  std::span<const std::byte* const> inputs;
  std::size_t count = 0;     ///< elements
  std::uint64_t scalar = 0;  ///< of PreMulSum: an element's bits, in the low bytes; else not read
};

/// Never fails, keeps nothing.  Threads  any
using ReduceKernel = void (*)(const KernelArguments& arguments);

/// The kernels of one instruction set.
struct KernelSet {
  const char* name;  ///< as Highway calls it: AVX2
  /// Of PreMulSum, the kernel multiplies inputs[0] by the scalar first; Avg has the kernel of Sum.
  ReduceKernel (*find)(DataType type, RedOp op);
};

/// What this processor can run, the best first; never empty.
std::span<const KernelSet> kernel_sets();

}  // namespace ringside
