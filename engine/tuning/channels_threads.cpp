#include "engine/tuning/channels_threads.h"

#include <algorithm>

namespace ringside {
namespace {

constexpr int kWarp = 32;
constexpr int kAllThreads = 640;

bool is_scarce(Bytes bytes, int nchannels, int nthreads, int each) {
  return bytes.value < static_cast<std::uint64_t>(nchannels) *
                           static_cast<std::uint64_t>(nthreads) * static_cast<std::uint64_t>(each);
}

/// Lowers the channel count in stages to 16, 8, 4, 2, 1; halfway to each stage, each thread gets less data.
int collnet_channels(const CommShape& shape, Bytes bytes, int nchannels, int nthreads,
                     int threshold) {
  bool scarce = true;
  for (int stage = 16; stage >= 1 && scarce; stage /= 2) {
    scarce = is_scarce(bytes, nchannels, nthreads * shape.collnet_heads, threshold);
    while (scarce && nchannels > stage) {
      if (nchannels == stage + stage / 2) threshold /= 2;
      --nchannels;
      scarce = is_scarce(bytes, nchannels, nthreads * shape.collnet_heads, threshold);
    }
  }
  return nchannels;
}

}  // namespace

int collective_channels(const TuningModel& model, const CommShape& shape) {
  const bool fewer = !model.loop_takes_all_channels && shape.collective_channels > 0;
  return fewer ? shape.collective_channels : shape.nchannels;
}

Width width_for(const TuningModel& model, const CommShape& shape, const CostTable& table,
                Algorithm algorithm, Protocol protocol, Bytes bytes) {
  const auto a = static_cast<std::size_t>(algorithm);
  const auto p = static_cast<std::size_t>(protocol);
  const int threshold = table.thread_thresholds[a][p];
  Width width{collective_channels(model, shape), table.max_threads[a][p]};
  if (algorithm == Algorithm::CollNetDirect) {
    width.nchannels = collnet_channels(shape, bytes, width.nchannels, width.nthreads, threshold);
  } else if (facts_of(algorithm).takes_nvswitch) {
    width.nchannels = shape.nvls_channels;
    if (facts_of(algorithm).uses_collnet(shape.nnodes) && model.nvls_channels_are_bounded) {
      width.nchannels = std::min(shape.nvls_channels, shape.nchannels);
    }
  } else {
    if (algorithm == Algorithm::Pat && model.pat_over_nvls && shape.nranks > shape.nnodes) {
      width.nchannels = std::min(shape.nchannels, shape.nvls_channels);
    }
    while (width.nchannels >= 2 && is_scarce(bytes, width.nchannels, width.nthreads, threshold)) {
      --width.nchannels;
    }
    while (width.nthreads % 128 == 0 && width.nthreads > 0 &&
           is_scarce(bytes, width.nchannels, width.nthreads, threshold)) {
      width.nthreads /= 2;
    }
  }
  if (protocol == Protocol::Simple) {
    if (algorithm == Algorithm::Ring) width.nthreads += kWarp;
    if (algorithm == Algorithm::Tree) width.nthreads += 4 * kWarp;
  }
  width.nthreads = std::max(width.nthreads, 3 * kWarp);
  const bool takes_all =
      algorithm == Algorithm::Pat || (algorithm == Algorithm::Tree && model.tree_uses_all_threads);
  if (takes_all) width.nthreads = kAllThreads;
  return width;
}

}  // namespace ringside
