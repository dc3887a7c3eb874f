#include "harness/gpu_bench.h"

#include <gtest/gtest.h>

#include "engine/cuda/process_executor.h"
#include "harness/bench.h"
#include "tests/cuda/fibre_gpu.h"
#include "tests/runtime/ranks.h"
#include "trace/recorder.h"
#include "trace/sink.h"

namespace ringside {
namespace {

// In a ring of 3, a rank records 5 primitives per loop, and one event of the call itself; one run per size is
// recorded, not the timed ones.
TEST(GpuBench, OneRunOfEachSizeIsInTheTrace) {
  FibreGpu gpu;
  auto sink = std::make_shared<TraceMemorySink>();
  auto recorder = TraceRecorder::start(sink, this_process_info(TraceClock::HostMonotonic));
  ASSERT_TRUE(recorder);
  BenchOptions options;
  options.sizes = {120_B, 240_B};
  options.warmup = 1;
  options.iterations = 2;
  const auto bench =
      run_gpu_bench(gpu, 3, options, {.algorithm = Algorithm::Ring, .protocol = Protocol::Simple},
                    std::chrono::seconds(60), recorder->get(), [](const auto&) {});
  ASSERT_TRUE(bench) << bench.error().message;
  ASSERT_EQ(bench->rows.size(), 2U);
  for (const GpuBenchRow& row : bench->rows) {
    EXPECT_EQ(row.wrong, 0);
    // In a ring of 3 with direct stores, each of 3 ranks makes 3n - 3 loads and 2n - 1 stores of a third of the data.
    EXPECT_EQ(row.traffic, (DeviceTraffic{Bytes{6 * row.bytes.value}, Bytes{5 * row.bytes.value}}));
    EXPECT_DOUBLE_EQ(row.moved.value, static_cast<double>(row.traffic.as_copy().value) * 1e6);
  }
  (*recorder)->flush();
  EXPECT_EQ((*recorder)->stats().events, 2U * 3U * (5U + 1U));
}

// 4 of the ring's messages per size and rank would be twice as many calls one by one; clocks are warmed up first.
TEST(GpuBench, GraphsAreTimedWhereTheyAreRequested) {
  FibreGpu gpu;
  BenchOptions options;
  options.sizes = {120_B};
  options.warmup = 1;
  options.iterations = 2;
  options.graph = 10;
  const auto bench =
      run_gpu_bench(gpu, 2, options, {}, std::chrono::seconds(60), nullptr, [](const auto&) {});
  ASSERT_TRUE(bench) << bench.error().message;
  EXPECT_EQ(bench->rows.front().wrong, 0);
  // A tenth of the microsecond that a graph takes here.
  EXPECT_NEAR(bench->rows.front().median.count(), 1e-7, 1e-12);
  EXPECT_NEAR(bench->rows.front().graph.count(), 5e-8, 1e-12);
  EXPECT_NEAR(bench->warmed.count(), 1e-3, 1e-9);  // 1000 copies
}

// Each placement has a warm-up, 3 captured calls, and one that is checked; 20 graphs of them are timed.
TEST(GpuBench, RanksWithSeparateKernelsHaveGraphs) {
  const auto root = make_root(2);
  run_ranks(first_ranks(2), [&](int rank) {
    FibreGpu gpu({.has_others = true, .number = rank});
    const CudaDevice device = *device_of(gpu);
    auto made = runtime::Communicator::make(
        must_join(rank, 2, root->id()), CommunicatorOptions{},
        [&](const ExecutorSetup& setup) { return make_cuda_process_executor(device, {}, setup); });
    ASSERT_TRUE(made) << made.error().message;
    BenchOptions options;
    options.sizes = {64_B};
    options.warmup = 1;
    options.iterations = 20;
    options.device = &gpu.memory();
    options.gpu = &gpu;
    options.graph = 3;
    const auto rows = run_bench(**made, options, [](const auto&) {});
    ASSERT_TRUE(rows) << rows.error().message;
    EXPECT_EQ(rows->front().out_of_place.wrong, 0);
    EXPECT_EQ(rows->front().in_place->wrong, 0);
    EXPECT_EQ(dynamic_cast<FakeQueue&>(gpu.queue()).launches.size(), 2U * (1U + 3U + 1U));
    ASSERT_TRUE((*made)->finish());
  });
}

}  // namespace
}  // namespace ringside
