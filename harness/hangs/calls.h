#pragma once

#include "base/vocabulary.h"
#include "harness/hangs/outline.h"

namespace ringside::hangs {

/// Returns the collective that NCCL runs for the operation. PyTorch's barrier is an all-reduce of
/// one element.
Collective collective_of(Op op);

/// Returns the operation for a collective, or `other` if programs have no such operation.
Op op_of(Collective collective, Op other);

}  // namespace ringside::hangs
