#pragma once

#include <cstddef>

#include "base/vocabulary.h"

namespace ringside {

/// out[i] = a[i] op b[i] for `count` elements. `out` may be `a` or `b`; otherwise they do not overlap.
/// Integers wrap around on overflow; floating point rounds once an element, in the order a op b.
using ReduceKernel = void (*)(std::byte* out, const std::byte* a, const std::byte* b,
                              std::size_t count);

/// shape   any alignment
/// errors  Unsupported: no kernel for the pair; the message names those there are
Result<ReduceKernel> reduce_kernel(DataType type, RedOp op);

}  // namespace ringside
