#pragma once

#include <functional>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "engine/runtime/communicator.h"

namespace ringside {

/// What to time. Sizes are nccl-tests': the larger of the two buffers (all_gather: the gathered result,
/// reduce_scatter: the input), rounded down to a whole number of elements for each rank.
struct BenchOptions {
  Collective collective = Collective::AllReduce;
  std::vector<Bytes> sizes;
  DataType type = DataType::Float32;
  RedOp op = RedOp::Sum;
  Rank root{0};
  int warmup = 5;
  int iterations = 20;
  bool check = true;  ///< verify every element after the timed runs
};

/// Times of one size in one placement: of the slowest rank in each iteration, over the iterations.
struct BenchTiming {
  Seconds median{0};
  Seconds p95{0};
  Seconds least{0};
  Seconds most{0};
  BytesPerSecond algbw;  ///< bytes / median
  BytesPerSecond busbw;
  std::int64_t wrong = 0;  ///< elements that differ from the expected ones, over all ranks
};

struct BenchRow {
  Bytes bytes;
  std::int64_t count = 0;  ///< elements that one rank gives, as nccl-tests prints it
  BenchTiming out_of_place;
  BenchTiming in_place;
};

/// Whether this build can run it, before any rank is started.
/// errors   InvalidArgument: no algorithm for the collective, none that reduces this type so
Status check_bench(const BenchOptions& options);

/// Runs the sweep; collective: every rank calls it with the same options.
/// shape    on_row is called on every rank after each size
/// errors   as check_bench and Communicator::run; System: no memory for the buffers
Result<std::vector<BenchRow>> run_bench(Communicator& communicator, const BenchOptions& options,
                                        const std::function<void(const BenchRow&)>& on_row);

}  // namespace ringside
