#pragma once

#include "base/result.h"
#include "harness/hangs/outline.h"
#include "harness/scenario/workload_keys.h"

namespace ringside::workload {

/// Tensor, pipeline and data parallel: two reductions a layer each way, 1F1B, gradients at the end.
Result<hangs::Outline> make_megatron(const Keys& keys);

/// The same with experts in place of feed-forwards, each rank of an expert parallel group having some: every layer
/// sends its tokens there, and gets them back.
Result<hangs::Outline> make_moe(const Keys& keys);

}  // namespace ringside::workload
