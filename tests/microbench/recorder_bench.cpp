#include <benchmark/benchmark.h>

#include <cstdio>
#include <string>

#include "trace/clock.h"
#include "trace/file_sink.h"
#include "trace/recorder.h"

/// Measures what recording costs a rank. An event must stay below 50 ns, including the two clock readings of its
/// caller; RecordOneEvent also includes its share of encoding and writing full buffers.
namespace ringside {
namespace {

const std::string kPath = "recorder_bench.rtrace";

/// Represents the work of a primitive: short enough for the recording to show in comparison.
std::uint64_t work(std::uint64_t state) {
  return state * 6364136223846793005U + 1442695040888963407U;
}

/// Returns an event of a rank in a ring of 8, as all-reduces produce them: primitives, offsets and sequence vary.
TraceEvent an_event(std::uint32_t step) {
  TraceEvent event;
  event.offset = std::uint64_t{step % 8} * 65536;
  event.bytes = 65536;
  event.sequence = step / 64;
  event.rank = 3;
  event.recv_peer = 2;
  event.send_peer = 4;
  event.step = step;
  event.primitive = step % 14 < 7 ? Primitive::RecvReduceSend : Primitive::RecvCopySend;
  return event;
}

/// Imitates a rank's loop, so that recording on and off differ by nothing but the pointer.
void run_steps(benchmark::State& state, TraceLane* lane) {
  benchmark::DoNotOptimize(lane);
  std::uint64_t result = 1;
  std::uint32_t step = 0;
  for (auto _ : state) {
    const std::int64_t begin_ns = lane != nullptr ? trace_now().count() : 0;
    benchmark::DoNotOptimize(result = work(result));
    if (lane != nullptr) {
      TraceEvent event = an_event(step);
      event.begin_ns = begin_ns;
      event.end_ns = trace_now().count();
      lane->record(event);
    }
    ++step;
  }
}

void NoRecordingInTheCode(benchmark::State& state) {
  std::uint64_t result = 1;
  std::uint32_t step = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(result = work(result));
    ++step;
  }
}
BENCHMARK(NoRecordingInTheCode);

void RecordingOff(benchmark::State& state) { run_steps(state, nullptr); }
BENCHMARK(RecordingOff);

void ReadTheClock(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(trace_now());
}
BENCHMARK(ReadTheClock);

void ReadClockMonotonic(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(monotonic_now());
}
BENCHMARK(ReadClockMonotonic);

void record_to_a_file(benchmark::State& state) {
  auto recorder = record_to_file(kPath, this_process_info(TraceClock::HostMonotonic));
  if (!recorder) return state.SkipWithError(recorder.error().message.c_str());
  run_steps(state, (*recorder)->add_lane());
  (*recorder)->flush();
  const TraceStats stats = (*recorder)->stats();
  state.counters["file_bytes_per_event"] =
      static_cast<double>(stats.bytes) / static_cast<double>(stats.events);
  state.counters["dropped"] = static_cast<double>(stats.dropped);
  std::remove(kPath.c_str());
}

/// Records only as many events as fit the buffer: this is the cost in the rank's loop.
void RecordOneEventIntoTheBuffer(benchmark::State& state) { record_to_a_file(state); }
BENCHMARK(RecordOneEventIntoTheBuffer)
    ->Iterations(TraceRecorder::kLaneEvents - 1)
    ->Repetitions(20)
    ->ReportAggregatesOnly();

/// Records millions of events, including the share of each in writing the file.
void RecordOneEvent(benchmark::State& state) { record_to_a_file(state); }
BENCHMARK(RecordOneEvent)->Iterations(4'000'000)->Repetitions(5)->ReportAggregatesOnly();

}  // namespace
}  // namespace ringside
