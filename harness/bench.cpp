#include "harness/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <new>
#include <span>

#include "engine/collectives/run.h"
#include "engine/reduce/reduce_op.h"
#include "harness/check_data.h"

namespace ringside {
namespace {

using Clock = std::chrono::steady_clock;

/// Fills what a collective must overwrite: no small whole number of any type looks like it.
constexpr int kPoison = 0xA5;

struct Buffer {
  struct Free {
    void operator()(std::byte* memory) const {
      ::operator delete[](memory, std::align_val_t{4096});
    }
  };
  std::unique_ptr<std::byte[], Free> memory;
  std::size_t size = 0;
};

Result<Buffer> make_buffer(std::size_t size) {
  auto* memory =
      new (std::align_val_t{4096}, std::nothrow) std::byte[std::max<std::size_t>(size, 1)];
  if (memory == nullptr) {
    return Error{ErrorCode::System, fmt::format("no memory for a buffer of {} bytes", size),
                 "take a smaller largest size (-e)"};
  }
  Buffer buffer;
  buffer.memory.reset(memory);
  buffer.size = size;
  std::memset(memory, kPoison, size);  // pages come now, not within the timed runs
  return buffer;
}

/// Elements of one size, and where input and output lie in their buffers.
struct Layout {
  std::int64_t count = 0;    ///< as CollectiveCall::count
  std::int64_t inputs = 0;   ///< elements in the input buffer
  std::int64_t outputs = 0;  ///< elements in the output buffer
};

Layout layout_of(Collective collective, Bytes size, DataType type, int nranks) {
  const auto elements = static_cast<std::int64_t>(size.value / size_of(type).value);
  const std::int64_t block = elements / nranks;
  if (collective == Collective::AllGather) return {block, block, block * nranks};
  if (collective == Collective::ReduceScatter) return {block, block * nranks, block};
  return {elements, elements, elements};
}

class Sweep {
 public:
  Sweep(Communicator& communicator, const BenchOptions& options)
      : communicator_(communicator),
        options_(options),
        me_(to_int(communicator.rank())),
        n_(communicator.nranks()),
        element_(size_of(options.type).value) {}

  Status prepare() {
    std::size_t most = 0;
    for (const Bytes size : options_.sizes) most = std::max(most, std::size_t{size.value});
    RINGSIDE_TRY(input_, make_buffer(most));
    RINGSIDE_TRY(output_, make_buffer(most));
    return {};
  }

  Result<BenchRow> measure(Bytes size) {
    const Layout layout = layout_of(options_.collective, size, options_.type, n_);
    BenchRow row;
    row.count = layout.count;
    row.bytes =
        Bytes{static_cast<std::uint64_t>(std::max(layout.inputs, layout.outputs)) * element_};
    RINGSIDE_TRY(row.out_of_place, time_placement(layout, row.bytes, false));
    RINGSIDE_TRY(row.in_place, time_placement(layout, row.bytes, true));
    return row;
  }

 private:
  [[nodiscard]] std::byte* at(const Buffer& buffer, std::int64_t elements) const {
    return buffer.memory.get() + static_cast<std::size_t>(elements) * element_;
  }

  /// In place: the all-gather's input is its own block of the output, the reduce-scatter's output its own
  /// block of the input.
  [[nodiscard]] CollectiveCall call_of(const Layout& layout, bool in_place) const {
    CollectiveCall call{.collective = options_.collective,
                        .input = input_.memory.get(),
                        .output = output_.memory.get(),
                        .count = layout.count,
                        .type = options_.type,
                        .op = options_.op,
                        .scalar = CheckData(options_.type, options_.op, 0).scalar_of(me_),
                        .root = options_.root};
    if (in_place) {
      call.input = output_.memory.get();
      if (options_.collective == Collective::AllGather) {
        call.input = at(output_, me_ * layout.count);
      }
      if (options_.collective == Collective::ReduceScatter) {
        call.output = at(output_, me_ * layout.count);
      }
    }
    return call;
  }

  Result<BenchTiming> time_placement(const Layout& layout, Bytes size, bool in_place) {
    const CollectiveCall call = call_of(layout, in_place);
    for (int i = 0; i < options_.warmup; ++i) RINGSIDE_TRY(communicator_.run(call));
    RINGSIDE_TRY(communicator_.barrier());
    std::vector<double> mine;
    for (int i = 0; i < options_.iterations; ++i) {
      const auto begin = Clock::now();
      RINGSIDE_TRY(communicator_.run(call));
      mine.push_back(Seconds(Clock::now() - begin).count());
    }
    RINGSIDE_TRY(const std::vector<double> slowest, slowest_of_all(mine));
    BenchTiming timing = summary(slowest, size);
    if (options_.check) {
      RINGSIDE_TRY(timing.wrong, check(call, layout));
    }
    return timing;
  }

  /// In each iteration the time of the slowest rank.
  Result<std::vector<double>> slowest_of_all(const std::vector<double>& mine) {
    RINGSIDE_TRY(const std::vector<std::byte> all,
                 communicator_.all_gather_bytes(std::as_bytes(std::span(mine))));
    std::vector<double> slowest(mine.size(), 0.0);
    for (std::size_t i = 0; i < all.size() / sizeof(double); ++i) {
      double time = 0;
      std::memcpy(&time, all.data() + i * sizeof time, sizeof time);
      double& most = slowest[i % mine.size()];
      most = std::max(most, time);
    }
    return slowest;
  }

  [[nodiscard]] BenchTiming summary(std::vector<double> times, Bytes size) const {
    std::sort(times.begin(), times.end());
    const auto quantile = [&](double part) {
      return Seconds{times[static_cast<std::size_t>(part * static_cast<double>(times.size() - 1))]};
    };
    BenchTiming timing;
    timing.median = quantile(0.5);
    timing.p95 = quantile(0.95);
    timing.least = quantile(0);
    timing.most = quantile(1);
    timing.algbw = size / timing.median;
    timing.busbw = timing.algbw * busbw_factor(options_.collective, n_);
    return timing;
  }

  /// One more run on known data into a poisoned output. returns  wrong elements over all ranks
  Result<std::int64_t> check(const CollectiveCall& call, const Layout& layout) {
    const CheckData data(options_.type, options_.op, ++seed_);
    auto* input = static_cast<std::byte*>(const_cast<void*>(call.input));
    auto* output = static_cast<std::byte*>(call.output);
    const auto outputs = static_cast<std::size_t>(layout.outputs) * element_;
    std::memset(output, kPoison, outputs);
    // An all-gather's logical buffer is the gathered one: this rank holds its own block of it.
    const std::int64_t first =
        options_.collective == Collective::AllGather ? me_ * layout.count : 0;
    data.fill(input, layout.inputs, me_, first);
    RINGSIDE_TRY(communicator_.run(call));

    std::int64_t wrong = 0;
    switch (options_.collective) {
      case Collective::AllReduce:
        wrong = data.count_wrong_reduced(output, layout.count, n_, 0);
        break;
      case Collective::ReduceScatter:
        wrong = data.count_wrong_reduced(output, layout.count, n_, me_ * layout.count);
        break;
      case Collective::AllGather:
        for (int rank = 0; rank < n_; ++rank) {
          const std::int64_t block = rank * layout.count;
          wrong += data.count_wrong_copied(output + static_cast<std::size_t>(block) * element_,
                                           layout.count, rank, block);
        }
        break;
      case Collective::Broadcast:
        wrong = data.count_wrong_copied(output, layout.count, to_int(options_.root), 0);
        break;
      default:  // check_bench() lets no other through
        break;
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

  Communicator& communicator_;
  const BenchOptions& options_;
  int me_;
  int n_;
  std::size_t element_;
  Buffer input_;
  Buffer output_;
  std::uint64_t seed_ = 0;
};

}  // namespace

Status check_bench(const BenchOptions& options) {
  constexpr std::array kKnown{Collective::AllReduce, Collective::AllGather,
                              Collective::ReduceScatter, Collective::Broadcast};
  if (std::ranges::find(kKnown, options.collective) == kKnown.end()) {
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("{} has no algorithm on hosts", to_string(options.collective)),
                 "there are all_reduce, all_gather, reduce_scatter and broadcast"};
  }
  return check_reduction(options.collective, Algorithm::Ring, options.type, options.op);
}

Result<std::vector<BenchRow>> run_bench(Communicator& communicator, const BenchOptions& options,
                                        const std::function<void(const BenchRow&)>& on_row) {
  RINGSIDE_ASSERT(options.iterations >= 1 && options.warmup >= 0, "{} iterations, {} warm-up",
                  options.iterations, options.warmup);
  RINGSIDE_TRY(check_bench(options));
  Sweep sweep(communicator, options);
  RINGSIDE_TRY(sweep.prepare());
  std::vector<BenchRow> rows;
  for (const Bytes size : options.sizes) {
    RINGSIDE_TRY(const BenchRow row, sweep.measure(size));
    on_row(row);
    rows.push_back(row);
  }
  return rows;
}

}  // namespace ringside
