#include <benchmark/benchmark.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "gui/model/session/open.h"
#include "gui/model/session/session.h"
#include "gui/model/views/timeline.h"
#include "trace/file_sink.h"
#include "trace/recorder.h"
#include "trace/sink.h"

/// Measures the preparation of a frame of the timeline, with everything in sight and zoomed in, over traces of 1
/// million and 10 million events; and the opening of such a file: the time until something is shown, the time until
/// all of it is, and the memory.
namespace ringside::gui {
namespace {

constexpr int kRanks = 64;
constexpr int kChannels = 4;

/// Records rings as 64 processes do.
void record_rings(TraceRecorder& recorder, std::int64_t events) {
  std::vector<TraceLane*> lanes;
  for (int rank = 0; rank < kRanks; ++rank) lanes.push_back(recorder.add_lane());
  const auto steps = static_cast<std::uint32_t>(events / (kRanks * kChannels));
  for (std::uint32_t step = 0; step < steps; ++step) {
    for (int rank = 0; rank < kRanks; ++rank) {
      for (int channel = 0; channel < kChannels; ++channel) {
        TraceEvent event;
        event.begin_ns = std::int64_t{1000} * step + 10 * channel;
        event.end_ns = event.begin_ns + 700 + (step * 37 + static_cast<std::uint32_t>(rank)) % 200;
        event.rank = rank;
        event.channel = static_cast<std::uint16_t>(channel);
        event.step = step % 1000;
        event.sequence = step / 1000;
        event.bytes = 65536;
        event.primitive = Primitive::RecvReduceSend;
        event.recv_peer = (rank + kRanks - 1) % kRanks;
        event.send_peer = (rank + 1) % kRanks;
        lanes[static_cast<std::size_t>(rank)]->record(event);
      }
    }
  }
  recorder.flush();
}

const Document& document(std::int64_t events) {
  static std::unordered_map<std::int64_t, std::unique_ptr<Document>> known;
  auto& made = known[events];
  if (made) return *made;
  const auto sink = std::make_shared<TraceMemorySink>();
  {
    const auto recorder = TraceRecorder::start(sink, this_process_info(TraceClock::Simulated));
    record_rings(**recorder, events);
  }
  const auto bytes = std::make_shared<const std::vector<std::byte>>(sink->bytes());
  made = std::make_unique<Document>(
      make_document("bench", *Replay::make(*TraceFile::parse(*bytes, "memory"))));
  made->keeps = bytes;
  return *made;
}

/// Arguments: the number of events; the visible part of the whole, as 1 of so many; whether all lanes have rows of
/// their own.
void GuiPrepareTimeline(benchmark::State& state) {
  const Document& shown = document(state.range(0));
  State view = first_state(shown);
  Timeline timeline;
  Panel panel;
  const Canvas canvas{.width = 1600, .height = 1000};
  timeline.prepare(shown, view, canvas, panel);
  if (state.range(2) != 0) {
    for (const LaneRow& row : timeline.rows().rows()) view.turned.insert(row.key);
  }
  const std::int64_t middle = (view.visible.begin_ns + view.visible.end_ns) / 2;
  zoom(view, shown, 1.0 / static_cast<double>(state.range(1)), middle);
  for (auto _ : state) {
    panel.clear();
    timeline.prepare(shown, view, canvas, panel);
    benchmark::DoNotOptimize(panel.picture.boxes.data());
  }
  state.counters["boxes"] = static_cast<double>(panel.picture.boxes.size());
}
BENCHMARK(GuiPrepareTimeline)
    ->ArgsProduct({{1'000'000, 10'000'000}, {1, 10, 30, 100, 1000}, {0, 1}})
    ->Unit(benchmark::kMicrosecond);

/// Arguments: the number of events; whether all lanes have rows of their own. Reports the slowest of all zooms, each
/// as the median of 9 frames.
void GuiPrepareAtAnyZoom(benchmark::State& state) {
  const Document& shown = document(state.range(0));
  const Canvas canvas{.width = 1600, .height = 1000};
  Timeline timeline;
  Panel panel;
  double slowest = 0;
  double at = 0;
  for (auto _ : state) {
    for (double parts = 1; parts < 40'000; parts *= 1.1) {
      State view = first_state(shown);
      timeline.prepare(shown, view, canvas, panel);
      if (state.range(1) != 0) {
        for (const LaneRow& row : timeline.rows().rows()) view.turned.insert(row.key);
      }
      zoom(view, shown, 1 / parts, (view.visible.begin_ns + view.visible.end_ns) / 2);
      std::vector<double> times;
      for (int frame = 0; frame < 9; ++frame) {
        panel.clear();
        const std::clock_t begin = std::clock();
        timeline.prepare(shown, view, canvas, panel);
        times.push_back(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
      }
      std::ranges::nth_element(times, times.begin() + 4);
      if (times[4] > slowest) {
        slowest = times[4];
        at = parts;
      }
    }
  }
  state.counters["slowest_us"] = slowest * 1e6;
  state.counters["at_zoom"] = at;
}
BENCHMARK(GuiPrepareAtAnyZoom)
    ->ArgsProduct({{1'000'000, 10'000'000}, {0, 1}})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);

double milliseconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

/// Returns the CPU time of this thread alone: what others do on a busy machine does not count.
double thread_milliseconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

/// Arguments: the number of events; the view. Measures a frame in the middle of the trace, once the view has computed
/// what it caches for a call.
void GuiPrepareView(benchmark::State& state) {
  const auto view = static_cast<View>(state.range(1));
  state.SetLabel(to_string(view));
  const std::shared_ptr<const Document> shown(&document(state.range(0)), [](const Document*) {});
  Session session;
  session.open(shown);
  session.compare_with(shown);
  const TimeRange whole = shown->whole();
  session.state().now_ns = whole.begin_ns + (whole.end_ns - whole.begin_ns) / 2;
  const Canvas canvas{.width = 1600, .height = 1000};
  const auto begin = std::chrono::steady_clock::now();
  session.prepare(view, canvas);
  state.counters["first_ms"] = milliseconds_since(begin);
  // In the window a worker computes the cached values. Measured are, over three calls, the frame that takes most CPU
  // time of the window's thread, and the longest time until the frame is complete.
  Session window(Making::InWorker);
  double slowest = 0;
  double until_whole = 0;
  const auto work = [&](const auto& what) {
    const double from = thread_milliseconds();
    what();
    slowest = std::max(slowest, thread_milliseconds() - from);
  };
  for (const int part : {2, 4, 3}) {
    if (part != 4) work([&] { window.open(shown); });
    window.compare_with(shown);
    window.state().now_ns = whole.begin_ns + (whole.end_ns - whole.begin_ns) / part;
    const auto asked = std::chrono::steady_clock::now();
    do {
      work([&] { window.prepare(view, canvas); });
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    } while (window.is_preparing());
    until_whole = std::max(until_whole, milliseconds_since(asked));
  }
  state.counters["window_cpu_ms"] = slowest;
  state.counters["window_whole_ms"] = until_whole;
  for (auto _ : state) {
    session.state().now_ns += 1;
    benchmark::DoNotOptimize(&session.prepare(view, canvas));
  }
}
BENCHMARK(GuiPrepareView)
    ->ArgsProduct({{1'000'000, 10'000'000}, {0, 1, 2, 3, 4, 5, 6}})
    ->Unit(benchmark::kMicrosecond);

// ---- opening -----------------------------------------------------------------------------------

/// Returns the peak memory of the process in bytes so far, including the pages of the mapped file.
double peak_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) * 1024;
  }
  return 0;
}

/// Excludes the pages that have been touched until now.
void forget_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

/// Opens a trace of so many events, in a file that has been read before.
void GuiOpen(benchmark::State& state) {
  const std::string path = (std::filesystem::temp_directory_path() /
                            ("ringside_gui_bench_" + std::to_string(::getpid()) + ".rtrace"))
                               .string();
  {
    const auto recorder = record_to_file(path, this_process_info(TraceClock::Simulated));
    record_rings(**recorder, state.range(0));
  }
  using Clock = std::chrono::steady_clock;
  double first = 0;
  std::size_t index = 0;
  forget_peak();
  const double before = peak_bytes();
  for (auto _ : state) {
    const auto begin = Clock::now();
    std::shared_ptr<const Document> shown;
    const auto opened = open_paths({path}, {}, [&](const std::shared_ptr<const Document>& part) {
      // As in the window, an opened part is shown with the next frame, and held until all of the file is there.
      shown = part;
      Timeline timeline;
      Panel panel;
      timeline.prepare(*part, first_state(*part), {.width = 1600, .height = 1000}, panel);
      benchmark::DoNotOptimize(panel.picture.boxes.data());
      first += std::chrono::duration<double>(Clock::now() - begin).count();
    });
    if (opened) {
      index = (*opened)->replay->index_bytes();
    } else {
      state.SkipWithError(opened.error().message.c_str());
    }
  }
  const auto size = static_cast<double>(std::filesystem::file_size(path));
  state.counters["first_s"] = benchmark::Counter(first, benchmark::Counter::kAvgIterations);
  state.counters["file_MB"] = size / 1e6;
  state.counters["index_B/event"] =
      static_cast<double>(index) / static_cast<double>(state.range(0));
  state.counters["memory/file"] = (peak_bytes() - before) / size;
  std::filesystem::remove(path);
}
BENCHMARK(GuiOpen)->Arg(1'000'000)->Arg(10'000'000)->Unit(benchmark::kMillisecond)->Iterations(3);

}  // namespace
}  // namespace ringside::gui
