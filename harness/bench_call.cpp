#include "harness/bench_call.h"

#include <algorithm>
#include <numeric>

#include "engine/cuda/device/device_memory.h"

namespace ringside {
namespace {

/// Returns blocks of one length, or alternately of two lengths with the same sum.
std::vector<std::int64_t> block_counts(Collective collective, std::int64_t elements, int nranks) {
  const auto n = static_cast<std::size_t>(nranks);
  const std::int64_t each = elements / nranks;
  std::vector<std::int64_t> counts(n, each);
  if (collective != Collective::AllGatherV) return counts;
  for (std::size_t rank = 0; rank + 1 < n; rank += 2) {
    counts[rank] -= each / 2;
    counts[rank + 1] += each / 2;
  }
  return counts;
}

}  // namespace

BenchCall::BenchCall(Collective collective, std::int64_t elements, int rank, int nranks, Rank root)
    : collective_(collective),
      me_(rank),
      n_(nranks),
      root_(root),
      counts_(block_counts(collective, elements, nranks)) {
  const std::int64_t all = std::accumulate(counts_.begin(), counts_.end(), std::int64_t{0});
  const std::int64_t mine = counts_[static_cast<std::size_t>(rank)];
  const bool is_root = rank == to_int(root);
  count_ = counts_.front();
  largest_ = all;
  switch (collective) {
    case Collective::AllGather:
    case Collective::AllGatherV:
      inputs_ = mine;
      outputs_ = all;
      return;
    case Collective::ReduceScatter:
      inputs_ = all;
      outputs_ = mine;
      return;
    case Collective::AllToAll:
      inputs_ = outputs_ = all;
      return;
    case Collective::Gather:
      inputs_ = mine;
      outputs_ = is_root ? all : 0;
      return;
    case Collective::Scatter:
      inputs_ = is_root ? all : 0;
      outputs_ = mine;
      return;
    default:
      count_ = inputs_ = outputs_ = largest_ = elements;
  }
  if (collective == Collective::Reduce && !is_root) outputs_ = 0;
}

std::int64_t BenchCall::begin_of(int rank) const {
  return std::accumulate(counts_.begin(), counts_.begin() + rank, std::int64_t{0});
}

bool BenchCall::has_in_place() const { return !is_point_to_point(collective_); }

std::int64_t BenchCall::input_at() const {
  const bool gathers =
      collective_ == Collective::AllGather || collective_ == Collective::AllGatherV;
  return gathers ? begin_of(me_) : 0;
}

std::int64_t BenchCall::output_at() const {
  return collective_ == Collective::ReduceScatter ? begin_of(me_) : 0;
}

CollectiveCall BenchCall::call() const {
  CollectiveCall call{.collective = collective_, .count = count_, .root = root_};
  if (collective_ == Collective::AllGatherV) call.counts = counts_;
  return call;
}

void BenchCall::fill(const CheckData& data, std::byte* input) const {
  // A gathered buffer is indexed as a whole: this rank's input is its own block of it.
  data.fill(input, inputs_, me_, input_at());
}

std::vector<BenchCall::Part> BenchCall::parts() const {
  const int root = to_int(root_);
  /// Fills each rank's block, whose first element is at first_of(rank) of that rank's own buffer.
  const auto blocks = [&](const auto& first_of) {
    std::vector<Part> all;
    for (int rank = 0; rank < n_; ++rank) {
      all.push_back(
          {begin_of(rank), counts_[static_cast<std::size_t>(rank)], rank, first_of(rank)});
    }
    return all;
  };
  switch (collective_) {
    case Collective::AllReduce:
    case Collective::Reduce:
    case Collective::ReduceScatter:
      return {{0, outputs_, std::nullopt, output_at()}};
    case Collective::AllGather:
    case Collective::AllGatherV:
      return blocks([&](int rank) { return begin_of(rank); });
    case Collective::AllToAll:
      return blocks([&](int) { return begin_of(me_); });
    case Collective::Gather:
      return me_ == root ? blocks([](int) { return std::int64_t{0}; }) : std::vector<Part>();
    case Collective::Scatter:
      return {{0, outputs_, root, begin_of(me_)}};
    case Collective::SendRecv:
      return {{0, outputs_, (me_ + n_ - 1) % n_, 0}};
    case Collective::Broadcast:
      return {{0, outputs_, root, 0}};
    case Collective::Send:
    case Collective::Recv:
      break;  // both halves of send_recv
  }
  return {};
}

std::int64_t BenchCall::count_wrong(const CheckData& data, const std::byte* output,
                                    Bytes element) const {
  std::int64_t wrong = 0;
  for (const Part& part : parts()) {
    const std::byte* const at = output + static_cast<std::uint64_t>(part.at) * element.value;
    wrong += part.of ? data.count_wrong_copied(at, part.count, *part.of, part.first)
                     : data.count_wrong_reduced(at, part.count, n_, part.first);
  }
  return wrong;
}

Result<std::int64_t> BenchCall::count_wrong_on(DeviceMemory& device, const CheckData& data,
                                               const std::byte* output, Bytes element) const {
  std::int64_t wrong = 0;
  for (const Part& part : parts()) {
    const std::byte* const at = output + static_cast<std::uint64_t>(part.at) * element.value;
    const std::optional<PlaceTable> expected =
        part.of ? data.expect_copied(part.count, *part.of, part.first)
                : data.expect_reduced(part.count, n_, part.first);
    if (!expected) {
      // Only data that may have rounding errors is copied to the host and checked here.
      std::vector<std::byte> here(static_cast<std::size_t>(part.count) * element.value);
      RINGSIDE_TRY(device.read(here, at));
      wrong += data.count_wrong_reduced(here.data(), part.count, n_, part.first);
      continue;
    }
    RINGSIDE_TRY(const std::int64_t here, device.count_wrong(at, *expected));
    wrong += here;
  }
  return wrong;
}

}  // namespace ringside
