// Measures what the flight recorder costs per call; the target is less than 100 ns.

#include <benchmark/benchmark.h>

#include "engine/flight/recorder.h"
#include "trace/clock.h"

namespace ringside {
namespace {

void RecordCall(benchmark::State& state) {
  FlightSettings settings;
  settings.has_timing = state.range(0) != 0;
  FlightRecorder recorder(settings, 0);
  FlightRecorder::Group& group = recorder.join({"0", "default_pg", {0, 1}, 0, {}}, {}, {});
  const FlightFacts facts{Collective::AllReduce, DataType::Float32, 1024, 1024};
  for (auto _ : state) {
    const auto ticket = recorder.begin(group, facts, trace_now());
    if (settings.has_timing) recorder.start(ticket, trace_now());
    recorder.end(ticket, true, settings.has_timing ? trace_now() : Nanoseconds{});
  }
}
BENCHMARK(RecordCall)->ArgName("timing")->Arg(0)->Arg(1);

void DumpFullRing(benchmark::State& state) {
  FlightRecorder recorder({}, 0);
  FlightRecorder::Group& group = recorder.join({"0", "default_pg", {0, 1}, 0, {}}, {}, {});
  for (int i = 0; i < 2000; ++i) {
    const FlightFacts facts{Collective::AllReduce, DataType::Float32, i % 50, i % 50};
    recorder.end(recorder.begin(group, facts, trace_now()), true, trace_now());
  }
  for (auto _ : state) {
    std::string text;
    append_pickle(recorder.snapshot(), text);
    benchmark::DoNotOptimize(text);
  }
}
BENCHMARK(DumpFullRing);

}  // namespace
}  // namespace ringside
