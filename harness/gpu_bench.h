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

/// Times of one size among ranks of one GPU, by the GPU's clock.
struct GpuBenchRow {
  Bytes bytes;
  std::int64_t count = 0;
  Choice choice;
  /// The time of one launch; with BenchOptions::graph, of one in a graph of so many.
  Seconds median{0}, least{0}, most{0};
  Seconds graph{0};             ///< of one launch among many in a CUDA graph
  BytesPerSecond algbw, busbw;  ///< bytes / median
  DeviceTraffic traffic;        ///< of one launch, all ranks together
  /// traffic.as_copy() over the time. Compared with GpuBench::copy it shows how near the launch is to the memory's rate.
  BytesPerSecond moved;
  std::int64_t wrong = 0;  ///< elements, over all ranks
};

struct GpuBench {
  Seconds warmed{0};  ///< of copies, before anything was timed: clocks of a GPU that idles are low
  BytesPerSecond copy;  ///< of cudaMemcpy within the GPU, bytes copied
  std::vector<GpuBenchRow> rows;
};

/// Times a collective among ranks that share the GPU, and checks every element of one more run.
/// trace    gets the primitives of one further run of each size, by the host's clock; null: nothing is recorded
/// shape    on_row is called after each size; of BenchOptions in_place, shares_memory and on_progress mean nothing
/// errors   as choose_on_gpu(), VirtualRanks::plan(); System, Timeout: of what runs on the GPU
Result<GpuBench> run_gpu_bench(Gpu& gpu, int nranks, const BenchOptions& options,
                               const CallWishes& wishes, Nanoseconds timeout, TraceRecorder* trace,
                               const std::function<void(const GpuBench&)>& on_row);

}  // namespace ringside
