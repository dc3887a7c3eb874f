#pragma once

#include "base/result.h"
#include "harness/hangs/outline.h"
#include "harness/scenario/workload_keys.h"

namespace ringside::workload {

/// Makes tensor, pipeline and data parallel training: two reductions per layer and direction, 1F1B,
/// gradients at the end. docs/reference/scenarios.md lists the keys.
/// errors  InvalidArgument: a key is unknown, missing or out of range, as the functions of Keys
Result<hangs::Outline> make_megatron(const Keys& keys);

/// Makes the same training with experts instead of feed-forward layers. The ranks of an expert parallel
/// group share the experts, so every layer sends its tokens to them and back.
/// errors  as make_megatron()
Result<hangs::Outline> make_moe(const Keys& keys);

}  // namespace ringside::workload
