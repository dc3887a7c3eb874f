#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "engine/runtime/communicator.h"
#include "ringside/units.h"

namespace ringside {

/// Gradients that are reduced in buckets while the layers before are still computed, as PyTorch's
/// DistributedDataParallel does.
struct OverlapOptions {
  Bytes gradients{64 << 20};  ///< of all layers together, float
  int layers = 16;            ///< of equal size
  Seconds compute{0.02};      ///< of the whole backward pass, shared out evenly
  Bytes first_bucket{1 << 20};
  Bytes bucket_cap{25 << 20};  ///< of the others
  int warmup = 1;
  int iterations = 5;
  bool shares_memory = true;
};

/// Times of the slowest rank, medians over the iterations.
struct OverlapResult {
  std::vector<std::int64_t> buckets;  ///< elements of each, in the order in which they are reduced
  Seconds compute{0};                 ///< the layers alone
  Seconds communication{0};           ///< the buckets alone, one after the other
  Seconds total{0};                   ///< both, overlapped
  Seconds exposed{0};                 ///< communication that compute does not hide: total - compute
};

/// Which layers' gradients share a bucket: each is closed by the layer with which it reaches its cap.
/// layers   elements, in the order in which gradients come: the last layer first
/// element  bytes
/// returns  elements of each bucket
/// source   PyTorch torch/csrc/distributed/c10d/reducer.cpp, compute_bucket_assignment_by_size
std::vector<std::int64_t> bucket_elements(std::span<const std::int64_t> layers, Bytes element,
                                          Bytes first_cap, Bytes cap);

/// Every rank calls it with the same options.
/// errors  as Communicator::run(); InvalidArgument: no layer, or less than an element each; System: no memory
Result<OverlapResult> run_overlap(runtime::Communicator& communicator,
                                  const OverlapOptions& options);

}  // namespace ringside
