#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/result.h"
#include "engine/runtime/communicator.h"
#include "ringside/units.h"

namespace ringside {

class DeviceMemory;
class Gpu;

/// How much is verified, element by element, behind the timed runs: their times are the same.
enum class BenchCheck : std::uint8_t {
  Off,
  Last,   ///< one more run, on data that distinguish ranks and places
  Every,  ///< as many runs as were timed, each on data of its own
};

/// What to time. Sizes are nccl-tests': the largest of the ranks' buffers (all_gather: the gathered result,
/// reduce_scatter: the input), rounded down to a whole number of elements for each rank's block.
struct BenchOptions {
  Collective collective = Collective::AllReduce;
  std::vector<Bytes> sizes;
  DataType type = DataType::Float32;
  RedOp op = RedOp::Sum;
  Rank root{0};
  int warmup = 5;
  int iterations = 20;
  BenchCheck check = BenchCheck::Last;
  bool in_place = true;  ///< time that, too, where the collective has it
  /// Whether buffers lie in SharedMemory, as nccl-tests takes its own from ncclMemAlloc.
  bool shares_memory = true;
  /// Where buffers lie that kernels read and write; null: in memory of this process. It outlives the run.
  DeviceMemory* device = nullptr;
  /// Timed runs are launches of a CUDA graph that has so many calls, and their times a call's part; 0: calls begin one by one.
  int graph = 0;
  Gpu* gpu = nullptr;  ///< of this rank, for graphs of ranks that are processes; outlives the run
  /// Whose text runs the calls. How NCCL's does is not known: rows then say nothing of it.
  enum class Backend : std::uint8_t { Ringside, Nccl } backend = Backend::Ringside;
  /// Whether rows say what the links between the ranks would let one expect. They are measured first, by a send_recv.
  bool expects = false;
  /// Called on every rank, between timed runs, with the share of the work that is done; may be empty.
  std::function<void(double)> on_progress = {};
};

/// The weight of a size in on_progress, relative to other sizes.
constexpr double work_of(Bytes size) { return static_cast<double>(size.value) + (1 << 18); }

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
  std::int64_t count = 0;           ///< elements that one rank gives, as nccl-tests prints it
  Choice choice;                    ///< how it ran
  std::optional<Seconds> expected;  ///< as expected_time() has it; none: not asked for, or one rank
  BenchTiming out_of_place;
  std::optional<BenchTiming> in_place;  ///< none of point-to-point collectives
};

/// Whether this build can run it, before any rank is started.
/// settings   settings of the communicator that will run it
/// errors   InvalidArgument: half a collective, an algorithm that does not reduce this type so.
///          Unsupported: an algorithm that the collective has not
Status check_bench(const BenchOptions& options, const CallWishes& wishes);

/// What the links between ranks give while each rank sends to the next and receives from the one before.
struct LinkPace {
  Seconds latency{0};   ///< of the shortest message
  BytesPerSecond rate;  ///< of a long one, beyond the latency
};

/// What a collective would take if each link carried its bytes as one message: no algorithm's rounds, no time to reduce.
/// size, ranks  as a row's; ranks > 1
/// returns      latency + size * busbw_factor() / rate
Seconds expected_time(const LinkPace& pace, Collective collective, Bytes size, int ranks);

/// What run_bench() takes on each rank: the buffers of the largest size, which all sizes use. Of GPUs the copies in host
/// memory.
Bytes bench_memory(const BenchOptions& options);

/// Runs the sweep; collective: every rank calls it with the same options.
/// shape    on_row is called on every rank after each size
/// errors   as Communicator::run; System: no memory for the buffers
Result<std::vector<BenchRow>> run_bench(runtime::Communicator& communicator,
                                        const BenchOptions& options,
                                        const std::function<void(const BenchRow&)>& on_row);

}  // namespace ringside
