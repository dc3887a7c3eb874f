#pragma once

#include "base/vocabulary.h"
#include "harness/hangs/outline.h"

namespace ringside::hangs {

/// What NCCL makes of it: PyTorch's barrier is an all-reduce of one element.
Collective collective_of(Op op);

/// The way back. A collective that programs have no word for is `other`.
Op op_of(Collective collective, Op other);

}  // namespace ringside::hangs
