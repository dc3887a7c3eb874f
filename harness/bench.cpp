#include "harness/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <span>

#include "engine/cuda/device/device_memory.h"
#include "engine/cuda/gpu/gpu.h"
#include "engine/runtime/host/host_choice.h"
#include "harness/bench_buffer.h"
#include "harness/bench_call.h"
#include "harness/timed_runs.h"

namespace ringside {
namespace {

Bytes largest_size(const BenchOptions& options) {
  return options.sizes.empty() ? Bytes{0} : std::ranges::max(options.sizes);
}

class Sweep {
 public:
  Sweep(runtime::Communicator& communicator, const BenchOptions& options)
      : communicator_(communicator),
        options_(options),
        me_(to_int(communicator.rank())),
        n_(communicator.nranks()),
        element_(size_of(options.type).value) {}

  Status prepare() {
    most_ = std::max(most_, std::size_t{largest_size(options_).value});
    RINGSIDE_TRY(input_, make_side(most_));
    RINGSIDE_TRY(output_, make_side(most_));
    return {};
  }

  Result<BenchRow> measure(Bytes size) {
    const auto elements = static_cast<std::int64_t>(size.value / element_);
    const BenchCall bench(options_.collective, elements, me_, n_, options_.root);
    BenchRow row;
    row.count = bench.count();
    row.bytes = Bytes{static_cast<std::uint64_t>(bench.largest()) * element_};
    RINGSIDE_TRY(row.choice, communicator_.choose(call_of(bench, false)));
    RINGSIDE_TRY(row.out_of_place, time_placement(bench, row.bytes, false));
    if (!bench.has_in_place() || !options_.in_place) return row;
    RINGSIDE_TRY(row.in_place, time_placement(bench, row.bytes, true));
    return row;
  }

 private:
  /// A buffer, and its address on the device; its data is prepared and checked in the host copy.
  struct Side {
    BenchBuffer here;
    std::byte* place = nullptr;  ///< address that is passed to the call

    [[nodiscard]] std::byte* here_of(const void* at) const {
      return here.data() + (static_cast<const std::byte*>(at) - place);
    }
  };

  Result<Side> make_side(std::size_t most) const {
    Side side;
    RINGSIDE_TRY(side.here,
                 BenchBuffer::make(most, options_.shares_memory && options_.device == nullptr));
    side.place = side.here.data();
    if (options_.device != nullptr) {
      RINGSIDE_TRY(side.place, options_.device->take(Bytes{std::max<std::size_t>(most, 1)}));
    }
    return side;
  }

  [[nodiscard]] std::byte* at(const Side& side, std::int64_t elements) const {
    return side.place + static_cast<std::size_t>(elements) * element_;
  }

  [[nodiscard]] CollectiveCall call_of(const BenchCall& bench, bool in_place) const {
    CollectiveCall call = bench.call();
    call.input = in_place ? at(output_, bench.input_at()) : input_.place;
    call.output = in_place ? at(output_, bench.output_at()) : output_.place;
    call.type = options_.type;
    call.op = options_.op;
    call.scalar = CheckData(options_.type, options_.op, 0).scalar_of(me_);
    return call;
  }

  Result<BenchTiming> time_placement(const BenchCall& bench, Bytes size, bool in_place) {
    const CollectiveCall call = call_of(bench, in_place);
    std::unique_ptr<GpuGraph> graph;  // null until the runs are timed
    const auto run = [&] { return graph ? launch(*graph) : communicator_.run(call); };
    const auto ready = [&]() -> Status {
      RINGSIDE_TRY(communicator_.barrier());
      if (options_.graph > 0 && options_.gpu != nullptr) {
        RINGSIDE_TRY(graph, capture(call));
      }
      return {};
    };
    RINGSIDE_TRY(std::vector<Seconds> mine,
                 time_runs({options_.warmup, options_.iterations}, run, ready));
    if (graph) {
      for (Seconds& time : mine) time /= options_.graph;
    }
    RINGSIDE_TRY(const std::vector<Seconds> slowest, slowest_of_all(mine));
    BenchTiming timing = summary(slowest, size);
    for (int i = 0; i < options_.checks; ++i) {
      RINGSIDE_TRY(const std::int64_t wrong, check(call, bench));
      timing.wrong += wrong;
    }
    return timing;
  }

  /// Captures as many calls as the options request, one after the other.
  Result<std::unique_ptr<GpuGraph>> capture(const CollectiveCall& call) {
    RINGSIDE_TRY(communicator_.prepare({call}));
    Gpu& gpu = *options_.gpu;
    return gpu.capture([&]() -> Status {
      for (int i = 0; i < options_.graph; ++i) {
        RINGSIDE_TRY(communicator_.enqueue({call}, DeviceStream{gpu.stream()}));
      }
      return {};
    });
  }
  Status launch(GpuGraph& graph) {
    RINGSIDE_TRY(graph.begin());
    RINGSIDE_TRY(options_.gpu->finish());
    const std::optional<Error> error = communicator_.async_error();
    return error ? Status(*error) : Status();
  }

  /// Returns the time of the slowest rank in each iteration.
  Result<std::vector<Seconds>> slowest_of_all(const std::vector<Seconds>& mine) {
    RINGSIDE_TRY(const std::vector<std::byte> all,
                 communicator_.all_gather_bytes(std::as_bytes(std::span(mine))));
    std::vector<Seconds> slowest(mine.size(), Seconds{0});
    for (std::size_t i = 0; i < all.size() / sizeof(Seconds); ++i) {
      Seconds time{0};
      std::memcpy(&time, all.data() + i * sizeof time, sizeof time);
      Seconds& most = slowest[i % mine.size()];
      most = std::max(most, time);
    }
    return slowest;
  }

  [[nodiscard]] BenchTiming summary(const std::vector<Seconds>& times, Bytes size) const {
    BenchTiming timing;
    timing.median = quantile_of(times, 0.5);
    timing.mean =
        std::accumulate(times.begin(), times.end(), Seconds{0}) / static_cast<double>(times.size());
    timing.p95 = quantile_of(times, 0.95);
    timing.least = quantile_of(times, 0);
    timing.most = quantile_of(times, 1);
    timing.algbw = size / timing.median;
    timing.busbw = timing.algbw * busbw_factor(options_.collective, n_);
    return timing;
  }

  [[nodiscard]] bool is_within(const Side& side, const void* at) const {
    const auto* const byte = static_cast<const std::byte*>(at);
    return std::less_equal<>{}(side.place, byte) && std::less<>{}(byte, side.place + most_);
  }

  /// Runs the call once more on known data, into an output filled with a pattern.
  /// returns  wrong elements over all ranks
  Result<std::int64_t> check(const CollectiveCall& call, const BenchCall& bench) {
    const CheckData data(options_.type, options_.op, ++seed_);
    std::byte* const output = output_.here_of(call.output);
    const std::size_t outputs = static_cast<std::size_t>(bench.outputs()) * element_;
    const bool in_place = is_within(output_, call.input);
    std::byte* const input = (in_place ? output_ : input_).here_of(call.input);
    std::memset(output, BenchBuffer::kPoison, outputs);
    bench.fill(data, input);
    if (options_.device != nullptr) {
      const std::size_t inputs = static_cast<std::size_t>(bench.inputs()) * element_;
      RINGSIDE_TRY(options_.device->write(static_cast<std::byte*>(call.output), {output, outputs}));
      RINGSIDE_TRY(options_.device->write(static_cast<std::byte*>(const_cast<void*>(call.input)),
                                          {input, inputs}));
    }
    RINGSIDE_TRY(communicator_.run(call));
    std::int64_t wrong = 0;
    if (options_.device != nullptr) {
      RINGSIDE_TRY(
          wrong, bench.count_wrong_on(*options_.device, data,
                                      static_cast<const std::byte*>(call.output), Bytes{element_}));
    } else {
      wrong = bench.count_wrong(data, output, Bytes{element_});
    }
    RINGSIDE_TRY(const std::vector<std::byte> all,
                 communicator_.all_gather_bytes(std::as_bytes(std::span(&wrong, 1))));
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < all.size(); i += sizeof wrong) {
      std::memcpy(&wrong, all.data() + i, sizeof wrong);
      sum += wrong;
    }
    return sum;
  }

  runtime::Communicator& communicator_;
  const BenchOptions& options_;
  int me_;
  int n_;
  std::size_t element_;
  std::size_t most_ = 1;
  Side input_;
  Side output_;
  std::uint64_t seed_ = 0;
};

/// errors  as run_bench()
Result<LinkPace> measure_links(runtime::Communicator& communicator, const BenchOptions& options) {
  constexpr Bytes kShort = 8_B, kEnough = 4_MiB;
  const Bytes longest = std::max(kShort, largest_size(options));
  BenchOptions messages{.collective = Collective::SendRecv,
                        .sizes = {kShort, std::min(longest, kEnough)}};
  messages.checks = 0;
  messages.shares_memory = options.shares_memory;
  messages.device = options.device;
  Sweep sweep(communicator, messages);
  RINGSIDE_TRY(sweep.prepare());
  RINGSIDE_TRY(const BenchRow least, sweep.measure(messages.sizes.front()));
  RINGSIDE_TRY(const BenchRow most, sweep.measure(messages.sizes.back()));
  const Seconds latency = least.out_of_place.median;
  const Seconds beyond = most.out_of_place.median - latency;
  // If the longest messages take no longer than the shortest, the rate of the shortest is the only estimate.
  const bool is_long = most.bytes > least.bytes && beyond > Seconds{0};
  return LinkPace{latency, is_long ? (most.bytes - least.bytes) / beyond : least.bytes / latency};
}

}  // namespace

Seconds expected_time(const LinkPace& pace, Collective collective, Bytes size, int ranks) {
  return pace.latency + Seconds{static_cast<double>(size.value) * busbw_factor(collective, ranks) /
                                pace.rate.value};
}

Status check_bench(const BenchOptions& options, const CallSettings& settings) {
  if (options.collective == Collective::Send || options.collective == Collective::Recv) {
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("{} alone is half of a collective", to_string(options.collective)),
                 "time send_recv"};
  }
  const HostSituation situation{
      .collective = options.collective, .type = options.type, .op = options.op};
  RINGSIDE_TRY(choose_on_host(situation, settings));
  return {};
}

Bytes bench_memory(const BenchOptions& options) {
  // Input and output; the data to verify is computed element by element.
  constexpr std::uint64_t kBuffers = 2;
  return largest_size(options) * kBuffers;
}

Result<std::vector<BenchRow>> run_bench(runtime::Communicator& communicator,
                                        const BenchOptions& options,
                                        const std::function<void(const BenchRow&)>& on_row) {
  RINGSIDE_ASSERT(options.iterations >= 1 && options.warmup >= 0, "{} iterations, {} warm-up",
                  options.iterations, options.warmup);
  std::optional<LinkPace> pace;
  if (options.expects && communicator.nranks() > 1) {
    RINGSIDE_TRY(pace, measure_links(communicator, options));
  }
  Sweep sweep(communicator, options);
  RINGSIDE_TRY(sweep.prepare());
  std::vector<BenchRow> rows;
  double all = 0;
  for (const Bytes size : options.sizes) all += work_of(size);
  double done = 0;
  for (const Bytes size : options.sizes) {
    RINGSIDE_TRY(BenchRow row, sweep.measure(size));
    if (pace)
      row.expected = expected_time(*pace, options.collective, row.bytes, communicator.nranks());
    done += work_of(size);
    on_row(row);
    if (options.on_progress) options.on_progress(done / all);
    rows.push_back(row);
  }
  return rows;
}

}  // namespace ringside
