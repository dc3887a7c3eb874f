#include "harness/overlap.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "engine/runtime/host/host_stream.h"
#include "harness/bench_buffer.h"

namespace ringside {
namespace {

using SteadyClock = std::chrono::steady_clock;
constexpr Bytes kElement{4};  ///< gradients are floats

/// The backward pass of one rank: a stream that computes layer after layer, and a stream that reduces each bucket of
/// gradients as soon as its last layer is computed.
class BackwardPass {
 public:
  BackwardPass(runtime::Communicator& communicator, const OverlapOptions& options)
      : communicator_(communicator), options_(options) {}

  Status prepare() {
    const auto each = static_cast<std::int64_t>(options_.gradients.value / kElement.value) /
                      std::max(1, options_.layers);
    if (options_.layers < 1 || each < 1 || options_.iterations < 1) {
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("{} layers share {} bytes of gradients", options_.layers,
                               options_.gradients.value),
                   "give each layer an element, and at least one iteration"};
    }
    layers_.assign(static_cast<std::size_t>(options_.layers), each);
    buckets_ = bucket_elements(layers_, kElement, options_.first_bucket, options_.bucket_cap);
    RINGSIDE_TRY(gradients_, BenchBuffer::make(static_cast<std::size_t>(options_.gradients.value),
                                               options_.shares_memory));
    return {};
  }

  Result<OverlapResult> measure() {
    OverlapResult result;
    result.buckets = buckets_;
    RINGSIDE_TRY(result.compute, median_of(true, false));
    RINGSIDE_TRY(result.communication, median_of(false, true));
    RINGSIDE_TRY(result.total, median_of(true, true));
    result.exposed = std::max(Seconds{0}, result.total - result.compute);
    return result;
  }

 private:
  /// Returns the median of the slowest rank's times.
  Result<Seconds> median_of(bool computes, bool communicates) {
    std::vector<double> times;
    for (int i = 0; i < options_.warmup + options_.iterations; ++i) {
      RINGSIDE_TRY(communicator_.barrier());
      RINGSIDE_TRY(const double mine, once(computes, communicates));
      RINGSIDE_TRY(const std::vector<std::byte> all,
                   communicator_.all_gather_bytes(std::as_bytes(std::span(&mine, 1))));
      double slowest = 0;
      for (std::size_t at = 0; at < all.size(); at += sizeof mine) {
        double one = 0;
        std::memcpy(&one, &all[at], sizeof one);
        slowest = std::max(slowest, one);
      }
      if (i >= options_.warmup) times.push_back(slowest);
    }
    std::ranges::sort(times);
    return Seconds{times[times.size() / 2]};
  }

  /// Runs one pass.
  /// returns  its time in seconds
  Result<double> once(bool computes, bool communicates) {
    const auto began = SteadyClock::now();
    const Seconds each = options_.compute / static_cast<double>(layers_.size());
    std::size_t bucket = 0;
    std::int64_t ready = 0;
    std::int64_t reduced = 0;
    for (const std::int64_t elements : layers_) {
      if (computes) compute_.compute(each);
      ready += elements;
      if (ready - reduced < buckets_[bucket]) continue;
      // This layer's gradients complete the bucket.
      if (communicates) {
        compute_.push([this, at = reduced, count = buckets_[bucket]] { reduce(at, count); });
      }
      reduced = ready;
      ++bucket;
    }
    compute_.synchronize();
    reduces_.synchronize();
    if (auto error = communicator_.async_error()) return *std::move(error);
    return Seconds(SteadyClock::now() - began).count();
  }

  /// If the call is refused, the communicator reports the error.
  void reduce(std::int64_t at, std::int64_t count) {
    std::byte* const place = gradients_.data() + static_cast<std::size_t>(at) * kElement.value;
    CollectiveCall call;
    call.input = place;
    call.output = place;
    call.count = count;
    static_cast<void>(communicator_.enqueue(std::move(call), reduces_));
  }

  runtime::Communicator& communicator_;
  const OverlapOptions& options_;
  std::vector<std::int64_t> layers_, buckets_;
  BenchBuffer gradients_;
  HostStream reduces_;
  HostStream compute_;  // declared last, so destroyed first: its work pushes to the other stream
};

}  // namespace

std::vector<std::int64_t> bucket_elements(std::span<const std::int64_t> layers, Bytes element,
                                          Bytes first_cap, Bytes cap) {
  std::vector<std::int64_t> buckets;
  std::int64_t open = 0;
  for (const std::int64_t elements : layers) {
    open += elements;
    const Bytes limit = buckets.empty() ? first_cap : cap;
    if (static_cast<std::uint64_t>(open) * element.value < limit.value) continue;
    buckets.push_back(std::exchange(open, 0));
  }
  if (open > 0) buckets.push_back(open);
  return buckets;
}

Result<OverlapResult> run_overlap(runtime::Communicator& communicator,
                                  const OverlapOptions& options) {
  BackwardPass pass(communicator, options);
  RINGSIDE_TRY(pass.prepare());
  return pass.measure();
}

}  // namespace ringside
