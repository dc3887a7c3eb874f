#pragma once

#include "base/result.h"
#include "harness/hangs/outline.h"
#include "harness/scenario/workload_keys.h"

namespace ringside::workload {

/// Makes inference of a batch of requests: all prompts at once, then token by token, over tensor
/// parallel ranks and stages.
/// errors  InvalidArgument: a key is unknown, missing or out of range, as the functions of Keys
Result<hangs::Outline> make_inference(const Keys& keys);

/// Returns its keys in addition to those of the model and the GPU.
std::span<const std::string_view> inference_keys();

}  // namespace ringside::workload
