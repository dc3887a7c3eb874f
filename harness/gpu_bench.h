#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/result.h"
#include "engine/cuda/device_traffic.h"
#include "engine/cuda/gpu/gpu.h"
#include "harness/bench.h"
#include "ringside/units.h"

namespace ringside {

class TraceRecorder;

/// Times of one size on ranks of one GPU, by the GPU's clock.
struct GpuBenchRow {
  Bytes bytes;
  std::int64_t count = 0;
  Choice choice;
  /// Time per launch; with BenchOptions::graph, per launch in a graph of that many launches.
  Seconds median{0}, least{0}, most{0};
  Seconds graph{0};             ///< per launch among many in a CUDA graph
  BytesPerSecond algbw, busbw;  ///< bytes / median
  DeviceTraffic traffic;        ///< traffic of one launch, all ranks together
  /// traffic.as_copy() divided by the time. Its ratio to GpuBench::copy shows how close the launch
  /// is to memory bandwidth.
  BytesPerSecond moved;
  std::int64_t wrong = 0;  ///< wrong elements over all ranks
};

/// The results of a benchmark on one GPU.
struct GpuBench {
  Seconds warmed{0};    ///< time spent on copies before the timing: an idle GPU has low clocks
  BytesPerSecond copy;  ///< rate of cudaMemcpy within the GPU, bytes copied
  std::vector<GpuBenchRow> rows;
};

/// Times a collective among virtual ranks that share the GPU, and checks every element of one more
/// run.
/// trace    receives the primitives of one more run per size, by the host's clock; null: no trace
/// on_row   called after each size
/// shape    ignores the options in_place, shares_memory and on_progress
/// errors   as choose_on_gpu(), VirtualRanks::plan(); System, Timeout: GPU work failed
Result<GpuBench> run_gpu_bench(Gpu& gpu, int nranks, const BenchOptions& options,
                               const CallSettings& settings, Nanoseconds timeout,
                               TraceRecorder* trace,
                               const std::function<void(const GpuBench&)>& on_row);

}  // namespace ringside
