#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "engine/runtime/communicator.h"
#include "ringside/units.h"

namespace ringside {

/// Settings of a benchmark that overlaps gradient reduction with the backward pass, as PyTorch's
/// DistributedDataParallel does.
struct OverlapOptions {
  Bytes gradients{64 << 20};  ///< bytes of all layers together, float
  int layers = 16;            ///< layers of equal size
  Seconds compute{0.02};      ///< duration of the backward pass, divided evenly among the layers
  Bytes first_bucket{1 << 20};
  Bytes bucket_cap{25 << 20};  ///< size of the buckets after the first
  int warmup = 1;
  int iterations = 5;
  bool shares_memory = true;
};

/// Times of the slowest rank, as medians over the iterations.
struct OverlapResult {
  std::vector<std::int64_t> buckets;  ///< elements of each bucket, in the order of reduction
  Seconds compute{0};                 ///< without communication
  Seconds communication{0};           ///< without compute, one bucket after the other
  Seconds total{0};                   ///< both, overlapped
  /// Communication that is not hidden by compute: total - compute.
  Seconds exposed{0};
};

/// Assigns layers to gradient buckets. A layer that makes its bucket reach the cap is the bucket's
/// last one.
/// layers   elements in the order in which gradients are ready: the last layer first
/// element  size in bytes
/// returns  elements of each bucket
/// source   PyTorch torch/csrc/distributed/c10d/reducer.cpp, compute_bucket_assignment_by_size
std::vector<std::int64_t> bucket_elements(std::span<const std::int64_t> layers, Bytes element,
                                          Bytes first_cap, Bytes cap);

/// Runs the benchmark. Every rank must call it with the same options.
/// errors  as Communicator::run(); InvalidArgument: no layer, less than an element each, or no iteration; System: no memory
Result<OverlapResult> run_overlap(runtime::Communicator& communicator,
                                  const OverlapOptions& options);

}  // namespace ringside
