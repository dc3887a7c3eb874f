#include <benchmark/benchmark.h>

#include <memory>
#include <random>
#include <vector>

#include "trace/recorder.h"
#include "trace/replay/replay.h"
#include "trace/sink.h"

/// Measures what a trace of 10 million events costs a window: opening it, and each query.
namespace ringside {
namespace {

constexpr int kRanks = 64;
constexpr int kChannels = 4;
constexpr std::uint32_t kSteps = 39'063;  // x 64 x 4: 10 million events
constexpr std::int64_t kStepNs = 1000;

/// Returns rings as 64 processes record them: one lane each, with alternating channels and buffers of 4096 events.
const std::vector<std::byte>& trace_bytes() {
  static const std::vector<std::byte> bytes = [] {
    const auto sink = std::make_shared<TraceMemorySink>();
    auto recorder = TraceRecorder::start(sink, this_process_info(TraceClock::Simulated));
    std::vector<TraceLane*> lanes;
    for (int rank = 0; rank < kRanks; ++rank) lanes.push_back((*recorder)->add_lane());
    for (std::uint32_t step = 0; step < kSteps; ++step) {
      for (int rank = 0; rank < kRanks; ++rank) {
        for (int channel = 0; channel < kChannels; ++channel) {
          TraceEvent event;
          event.begin_ns = kStepNs * step + 10 * channel;
          event.end_ns =
              event.begin_ns + 700 + (step * 37 + static_cast<std::uint32_t>(rank)) % 200;
          event.rank = rank;
          event.channel = static_cast<std::uint16_t>(channel);
          event.step = step % 1000;
          event.sequence = step / 1000;
          event.offset = std::uint64_t{step % 64} * 65536;
          event.bytes = 65536;
          event.primitive = Primitive::RecvReduceSend;
          event.recv_peer = (rank + kRanks - 1) % kRanks;
          event.send_peer = (rank + 1) % kRanks;
          lanes[static_cast<std::size_t>(rank)]->record(event);
        }
      }
    }
    (*recorder)->flush();
    return sink->bytes();
  }();
  return bytes;
}

const Replay& replay() {
  static const Replay made = *Replay::make(*TraceFile::parse(trace_bytes(), "memory"));
  return made;
}

void ReplayOpenTheFile(benchmark::State& state) {
  static_cast<void>(trace_bytes());
  for (auto _ : state) benchmark::DoNotOptimize(TraceFile::parse(trace_bytes(), "memory"));
  state.counters["file_bytes"] = static_cast<double>(trace_bytes().size());
}
BENCHMARK(ReplayOpenTheFile)->Unit(benchmark::kMillisecond);

void ReplayMakeTheIndex(benchmark::State& state) {
  for (auto _ : state) {
    state.PauseTiming();
    TraceFile file = *TraceFile::parse(trace_bytes(), "memory");
    state.ResumeTiming();
    benchmark::DoNotOptimize(Replay::make(std::move(file)));
  }
}
BENCHMARK(ReplayMakeTheIndex)->Unit(benchmark::kMillisecond)->Iterations(3);

/// Reads 100 events of one lane, at any place.
void ReplayRangeOfALane(benchmark::State& state) {
  std::mt19937 random(1);
  std::vector<EventId> found;
  const auto lanes = static_cast<std::uint32_t>(replay().lanes().size());
  for (auto _ : state) {
    found.clear();
    const auto begin = kStepNs * static_cast<std::int64_t>(random() % (kSteps - 200));
    replay().overlapping(LaneId{static_cast<std::uint32_t>(random() % lanes)},
                         {begin, begin + 100 * kStepNs}, found);
    benchmark::DoNotOptimize(found.data());
  }
  state.counters["events"] = static_cast<double>(found.size());
}
BENCHMARK(ReplayRangeOfALane);

/// Folds a whole lane into 2000 points.
void ReplayFoldALane(benchmark::State& state) {
  std::vector<Fold> folds;
  std::uint32_t lane = 0;
  const TimeRange all{0, kStepNs * kSteps};
  const auto lanes = static_cast<std::uint32_t>(replay().lanes().size());
  for (auto _ : state) {
    folds.clear();
    replay().fold(LaneId{lane++ % lanes}, all, Nanoseconds{all.end_ns / 2000}, folds);
    benchmark::DoNotOptimize(folds.data());
  }
  state.counters["folds"] = static_cast<double>(folds.size());
}
BENCHMARK(ReplayFoldALane);

}  // namespace
}  // namespace ringside
