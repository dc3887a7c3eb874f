#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "harness/hangs/outline.h"
#include "harness/scenario/training.h"
#include "harness/scenario/workload_keys.h"

namespace ringside::workload {

/// One parameter's gradient.
struct GradientTensor {
  double elements = 0;
  double flops = 0;  ///< of backward, from the gradient before it until this one is there

  friend bool operator==(const GradientTensor&, const GradientTensor&) = default;
};

/// A model's gradients in the order in which backward makes them: the output embedding's first, the input's last. Norms
/// are omitted, as in TransformerShape::weights().
std::vector<GradientTensor> gradients_of(const Training& training);

/// How many gradients each bucket has, of `sizes` in bytes: a tensor is not divided, and a bucket is full once it has
/// reached its cap, so it may hold more.
/// first, cap  bytes of the first bucket and of the others
/// source      PyTorch, torch/csrc/distributed/c10d/reducer.cpp, compute_bucket_assignment_by_size()
std::vector<std::size_t> bucket_lengths(std::span<const double> sizes, double first, double cap);

/// Data parallel training: gradients in buckets, reduced while the next ones are computed.
Result<hangs::Outline> make_ddp(const Keys& keys);

/// Its keys in addition to those of the model, the GPU and training.
std::span<const std::string_view> ddp_keys();

}  // namespace ringside::workload
