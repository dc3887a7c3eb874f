#include "harness/gpu_bench.h"

#include <gtest/gtest.h>

#include "tests/cuda/fibre_gpu.h"
#include "trace/recorder.h"
#include "trace/sink.h"

namespace ringside {
namespace {

// A ring of 3: 5 primitives a rank and loop, and one event of the call itself; of one run a size, not of those timed.
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
    // Of a ring of 3, directly: 3n - 3 loads and 2n - 1 stores of a third, by each of 3 ranks.
    EXPECT_EQ(row.traffic, (DeviceTraffic{Bytes{6 * row.bytes.value}, Bytes{5 * row.bytes.value}}));
    EXPECT_DOUBLE_EQ(row.moved.value, static_cast<double>(row.traffic.as_copy().value) * 1e6);
  }
  (*recorder)->flush();
  EXPECT_EQ((*recorder)->stats().events, 2U * 3U * (5U + 1U));
}

}  // namespace
}  // namespace ringside
