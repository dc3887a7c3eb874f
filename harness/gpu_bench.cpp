#include "harness/gpu_bench.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "engine/cuda/cuda_choice.h"
#include "engine/cuda/device_trace.h"
#include "engine/cuda/direct_plan.h"
#include "engine/cuda/virtual_ranks.h"
#include "harness/bench_buffer.h"
#include "harness/bench_call.h"
#include "trace/clock.h"
#include "trace/recorder.h"

namespace ringside {
namespace {

/// Large enough that the launch is a small part of the time and that no cache holds the data; on a small GPU, an
/// eighth of its memory.
constexpr Bytes kMostCopied{512 << 20};
constexpr int kLaunchesOfGraph = 20;
/// A GPU leaves its idle clocks within some tens of milliseconds; on a slow GPU, the number of copies is limited.
constexpr Seconds kWarm{0.3};
constexpr int kMostWarmCopies = 1000;

class GpuSweep {
 public:
  GpuSweep(Gpu& gpu, int nranks, const BenchOptions& options, const CallSettings& settings,
           Nanoseconds timeout, TraceRecorder* trace, DeviceControl* control)
      : gpu_(gpu),
        nranks_(nranks),
        options_(options),
        settings_(settings),
        timeout_(timeout),
        trace_(trace),
        ranks_(gpu.memory(), control, nranks),
        element_(size_of(options.type).value) {}

  Status prepare() {
    RINGSIDE_TRY(stores_directly_, wants_direct_stores());
    std::uint64_t most = 0;
    for (const Bytes size : options_.sizes) most = std::max(most, size.value);
    for (int rank = 0; rank < nranks_; ++rank) {
      RINGSIDE_TRY(std::byte* const input, gpu_.memory().take(Bytes{most}));
      RINGSIDE_TRY(std::byte* const output, gpu_.memory().take(Bytes{most}));
      buffers_.push_back({input, output});
      inputs_.push_back(input);
    }
    return {};
  }

  /// Keeps the GPU busy until its clocks are up; then measures the rate of copies within its memory, as the median of
  /// a few runs.
  Status measure_copies(GpuBench& bench) {
    const Bytes copied = std::min(kMostCopied, Bytes{gpu_.facts().memory.value / 8});
    RINGSIDE_TRY(std::byte* const from, gpu_.memory().take(copied));
    RINGSIDE_TRY(std::byte* const to, gpu_.memory().take(copied));
    const auto copy = [&] { return gpu_.copy(to, from, copied); };
    for (int i = 0; i < kMostWarmCopies && bench.warmed < kWarm; ++i) {
      RINGSIDE_TRY(const Seconds time, gpu_.time(copy));
      bench.warmed += time;
    }
    RINGSIDE_TRY(const std::vector<double> times, times_of(copy, 3, 11));
    bench.copy = copied / Seconds{times[times.size() / 2]};
    return {};
  }

  Result<GpuBenchRow> measure(Bytes size) {
    const auto elements = static_cast<std::int64_t>(size.value / element_);
    std::vector<BenchCall> benches;
    std::vector<CollectiveCall> calls;
    for (int rank = 0; rank < nranks_; ++rank) {
      benches.emplace_back(options_.collective, elements, rank, nranks_, options_.root);
      calls.push_back(benches.back().call());
      calls.back().type = options_.type;
      calls.back().op = options_.op;
      calls.back().scalar = CheckData(options_.type, options_.op, 0).scalar_of(rank);
    }
    GpuBenchRow row;
    row.count = benches.front().count();
    row.bytes = Bytes{static_cast<std::uint64_t>(benches.front().largest()) * element_};
    RINGSIDE_TRY(row.choice, choose_on_gpu({.collective = options_.collective,
                                            .bytes = row.bytes,
                                            .nranks = nranks_,
                                            .sharing = nranks_,
                                            .multiprocessors = gpu_.facts().multiprocessors,
                                            .type = options_.type,
                                            .op = options_.op},
                                           settings_));
    RINGSIDE_TRY(
        const auto plan,
        ranks_.plan(calls, row.choice, {.timeout = timeout_, .stores_directly = stores_directly_}));
    const DeviceLaunch launch = plan->launch(buffers_);
    const auto begin = [&] { return gpu_.launch(launch, options_.collective); };
    RINGSIDE_TRY(const std::vector<double> times,
                 options_.graph > 0
                     ? graph_times(begin, options_.graph, options_.warmup, options_.iterations)
                     : times_of(begin, options_.warmup, options_.iterations));
    RINGSIDE_TRY(check_outcome(*plan));
    row.least = Seconds{times.front()};
    row.median = Seconds{times[times.size() / 2]};
    row.most = Seconds{times.back()};
    row.algbw = row.bytes / row.median;
    row.busbw = row.algbw * busbw_factor(options_.collective, nranks_);
    row.traffic = plan->traffic(Bytes{element_});
    row.moved = row.traffic.as_copy() / row.median;
    RINGSIDE_TRY(const std::vector<double> in_graph, graph_times(begin, kLaunchesOfGraph, 1, 5));
    row.graph = Seconds{in_graph[in_graph.size() / 2]};
    RINGSIDE_TRY(check_outcome(*plan));
    if (trace_ != nullptr) {
      RINGSIDE_TRY(record(calls, row));
    }
    if (options_.checks == 0) return row;
    RINGSIDE_TRY(row.wrong, check(benches, begin));
    RINGSIDE_TRY(check_outcome(*plan));
    return row;
  }

 private:
  /// Returns the sorted times, in seconds.
  Result<std::vector<double>> times_of(const std::function<Status()>& begin, int warmup,
                                       int iterations) {
    for (int i = 0; i < warmup; ++i) RINGSIDE_TRY(begin());
    std::vector<double> times;
    for (int i = 0; i < iterations; ++i) {
      RINGSIDE_TRY(const Seconds time, gpu_.time(begin));
      times.push_back(time.count());
    }
    std::ranges::sort(times);
    return times;
  }

  /// Returns the times of one launch, from graphs with several launches.
  Result<std::vector<double>> graph_times(const std::function<Status()>& begin, int launches,
                                          int warmup, int iterations) {
    RINGSIDE_TRY(const std::unique_ptr<GpuGraph> graph, gpu_.capture([&]() -> Status {
      for (int i = 0; i < launches; ++i) RINGSIDE_TRY(begin());
      return {};
    }));
    RINGSIDE_TRY(std::vector<double> times,
                 times_of([&] { return graph->begin(); }, warmup, iterations));
    for (double& time : times) time /= launches;
    return times;
  }

  Status check_outcome(const VirtualRanks::Plan& plan) {
    RINGSIDE_TRY(const std::optional<Error> error, ranks_.outcome(plan));
    return error ? Status(*error) : Status();
  }

  /// Runs the calls once more and records each rank's part, and the calls themselves, in the trace.
  Status record(const std::vector<CollectiveCall>& calls, const GpuBenchRow& row) {
    RINGSIDE_TRY(const auto plan, ranks_.plan(calls, row.choice,
                                              {.timeout = timeout_,
                                               .events = DeviceTrace::kEventsOfStrand,
                                               .stores_directly = stores_directly_}));
    const std::int64_t begin_ns = trace_now().count();
    RINGSIDE_TRY(gpu_.launch(plan->launch(buffers_), options_.collective));
    RINGSIDE_TRY(gpu_.finish());
    const std::int64_t end_ns = trace_now().count();
    RINGSIDE_TRY(check_outcome(*plan));
    RINGSIDE_TRY(const auto events, clock_.take(plan->grid, nranks_, gpu_.memory(), end_ns));
    for (int rank = 0; rank < nranks_; ++rank) {
      const auto index = static_cast<std::size_t>(rank);
      if (lanes_.size() == index) lanes_.push_back(trace_->add_lane());
      TraceEvent event;
      event.rank = rank;
      event.collective = row.choice.collective;
      event.algorithm = row.choice.algorithm;
      event.protocol = row.choice.protocol;
      event.is_modelled = is_modelled(row.choice);
      event.sequence = sequence_ + 1;
      record_device_events(*lanes_[index], event, options_.type, events[index]);
      event.kind = EventKind::Collective;
      event.begin_ns = begin_ns;
      event.end_ns = end_ns;
      event.bytes = row.bytes.value;
      lanes_[index]->record(event);
    }
    ++sequence_;
    return {};
  }

  /// Runs the call once more on known data, into outputs filled with a pattern.
  /// returns  wrong elements over all ranks
  Result<std::int64_t> check(const std::vector<BenchCall>& benches,
                             const std::function<Status()>& begin) {
    const CheckData data(options_.type, options_.op, ++seed_);
    std::vector<std::byte> host;
    for (std::size_t rank = 0; rank < benches.size(); ++rank) {
      host.assign(static_cast<std::size_t>(benches[rank].inputs()) * element_, std::byte{0});
      benches[rank].fill(data, host.data());
      RINGSIDE_TRY(gpu_.memory().write(inputs_[rank], host));
      host.assign(static_cast<std::size_t>(benches[rank].outputs()) * element_,
                  std::byte{BenchBuffer::kPoison});
      RINGSIDE_TRY(gpu_.memory().write(buffers_[rank].output, host));
    }
    RINGSIDE_TRY(begin());
    RINGSIDE_TRY(gpu_.finish());
    std::int64_t wrong = 0;
    for (std::size_t rank = 0; rank < benches.size(); ++rank) {
      RINGSIDE_TRY(const std::int64_t here,
                   benches[rank].count_wrong_on(gpu_.memory(), data, buffers_[rank].output,
                                                Bytes{element_}));
      wrong += here;
    }
    return wrong;
  }

  Gpu& gpu_;
  int nranks_;
  const BenchOptions& options_;
  const CallSettings& settings_;
  Nanoseconds timeout_;
  TraceRecorder* trace_;
  std::vector<TraceLane*> lanes_;  ///< [rank]
  DeviceTrace clock_;
  std::uint32_t sequence_ = 0;
  VirtualRanks ranks_;
  std::size_t element_;
  std::vector<DeviceBuffers> buffers_;
  std::vector<std::byte*> inputs_;
  std::uint64_t seed_ = 0;
  bool stores_directly_ = true;
};

}  // namespace

Result<GpuBench> run_gpu_bench(Gpu& gpu, int nranks, const BenchOptions& options,
                               const CallSettings& settings, Nanoseconds timeout,
                               TraceRecorder* trace,
                               const std::function<void(const GpuBench&)>& on_row) {
  RINGSIDE_TRY(std::byte* const control, gpu.memory().take_shared(Bytes{sizeof(DeviceControl)}));
  GpuSweep sweep(gpu, nranks, options, settings, timeout, trace,
                 reinterpret_cast<DeviceControl*>(control));
  RINGSIDE_TRY(sweep.prepare());
  GpuBench bench;
  RINGSIDE_TRY(sweep.measure_copies(bench));
  for (const Bytes size : options.sizes) {
    RINGSIDE_TRY(const GpuBenchRow row, sweep.measure(size));
    bench.rows.push_back(row);
    on_row(bench);
  }
  return bench;
}

}  // namespace ringside
