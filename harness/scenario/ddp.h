#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "harness/hangs/outline.h"
#include "harness/scenario/training.h"
#include "harness/scenario/workload_keys.h"

namespace ringside::workload {

/// The gradient of one parameter.
struct GradientTensor {
  double elements = 0;
  double flops = 0;  ///< operations of the backward pass between the previous gradient and this one

  friend bool operator==(const GradientTensor&, const GradientTensor&) = default;
};

/// Returns a model's gradients in the order of the backward pass: first the output embedding's,
/// last the input's. Norms are omitted, as in TransformerShape::weights().
std::vector<GradientTensor> gradients_of(const Training& training);

/// Returns the number of gradients in each bucket. A gradient is not divided. A bucket is full when
/// it reaches its cap, so it may exceed the cap.
/// sizes       bytes of each gradient
/// first, cap  bytes of the first bucket and of the others
/// source      PyTorch, torch/csrc/distributed/c10d/reducer.cpp,
///             compute_bucket_assignment_by_size()
std::vector<std::size_t> bucket_lengths(std::span<const double> sizes, double first, double cap);

/// Makes data parallel training: gradients in buckets, which are reduced during the rest of the
/// backward pass.
/// errors  InvalidArgument: a key is unknown, missing or out of range, as the functions of Keys
Result<hangs::Outline> make_ddp(const Keys& keys);

/// Returns its keys in addition to those of the model, the GPU and training.
std::span<const std::string_view> ddp_keys();

}  // namespace ringside::workload
