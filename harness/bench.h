#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/runtime/communicator.h"
#include "ringside/units.h"

namespace ringside {

class DeviceMemory;
class Gpu;

/// The settings of a benchmark. Sizes are those of nccl-tests: the size of the largest buffer
/// (all_gather: the gathered result, reduce_scatter: the input), rounded down to whole elements per
/// rank block.
struct BenchOptions {
  Collective collective = Collective::AllReduce;
  std::vector<Bytes> sizes;
  DataType type = DataType::Float32;
  RedOp op = RedOp::Sum;
  Rank root{0};
  int warmup = 5;
  int iterations = 20;
  /// Runs that are verified, each with data of its own that differ by rank and position. They follow the timed runs, so
  /// they do not change their times. GPUs that share one launch run one.
  int checks = 1;
  bool in_place = true;  ///< also time in-place calls, if the collective supports them
  /// Allocate buffers in SharedMemory, as nccl-tests allocates with ncclMemAlloc.
  bool shares_memory = true;
  /// Device that allocates the buffers for kernels; outlives the run. Null: buffers are in host
  /// memory of this process.
  DeviceMemory* device = nullptr;
  /// Calls per CUDA graph: timed runs launch the graph, and times are per call. 0: calls are
  /// launched one by one.
  int graph = 0;
  Gpu* gpu = nullptr;  ///< this rank's GPU, for graphs of multi-process ranks; outlives the run
  /// The library that runs the calls. Rows of another one than ringside do not show an algorithm, as
  /// it does not report it.
  std::string backend = "ringside";
  [[nodiscard]] bool is_ours() const { return backend == "ringside"; }
  /// Fill BenchRow::expected. The links between the ranks are measured first, with a send_recv.
  bool expects = false;
  /// Called on every rank, between timed runs, with the completed share of the work; may be empty.
  std::function<void(double)> on_progress = {};
};

/// The weight of a size in on_progress, relative to other sizes.
constexpr double work_of(Bytes size) { return static_cast<double>(size.value) + (1 << 18); }

/// Times of one size, in place or out of place. A sample is the slowest rank's time of one
/// iteration.
struct BenchTiming {
  Seconds median{0};
  Seconds mean{0};  ///< what other benchmarks print
  Seconds p95{0};
  Seconds least{0};
  Seconds most{0};
  BytesPerSecond algbw;  ///< bytes / median
  BytesPerSecond busbw;
  std::int64_t wrong = 0;  ///< wrong elements over all ranks
};

/// The result for one size.
struct BenchRow {
  Bytes bytes;
  std::int64_t count = 0;  ///< elements of one rank's input, as nccl-tests prints it
  Choice choice;           ///< algorithm and protocol that ran
  /// As expected_time() returns it; none: not requested, or one rank.
  std::optional<Seconds> expected;
  BenchTiming out_of_place;
  std::optional<BenchTiming> in_place;  ///< none: not requested, or a send or receive
};

/// Checks before any rank starts that this build can run the benchmark.
/// `settings` are those of the communicator that will run it
/// errors   InvalidArgument: only a send or a receive, an algorithm that cannot reduce this type
///          with this operation. Unsupported: the collective lacks the algorithm
Status check_bench(const BenchOptions& options, const CallSettings& settings);

/// The performance of the links while each rank sends to the next rank and receives from the
/// previous one.
struct LinkPace {
  Seconds latency{0};   ///< time of the shortest message
  BytesPerSecond rate;  ///< rate of a long message, without the latency
};

/// Returns the time of a collective if each link carried its bytes as one message. Ignores rounds
/// and the time to reduce.
/// size, ranks  as in a row; ranks > 1
/// returns      latency + size * busbw_factor() / rate
Seconds expected_time(const LinkPace& pace, Collective collective, Bytes size, int ranks);

/// Returns the host memory that run_bench() allocates on each rank: buffers of the largest size, or
/// for GPUs their host copies.
Bytes bench_memory(const BenchOptions& options);

/// Runs the sweep; collective: every rank calls it with the same options.
/// shape    on_row is called on every rank after each size
/// errors   as Communicator::run; System: no memory for the buffers
Result<std::vector<BenchRow>> run_bench(runtime::Communicator& communicator,
                                        const BenchOptions& options,
                                        const std::function<void(const BenchRow&)>& on_row);

}  // namespace ringside
