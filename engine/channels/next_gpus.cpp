#include <algorithm>
#include <array>
#include <span>

#include "engine/channels/walk.h"

namespace ringside {
namespace {

/// The criteria for the next GPU of a walk, most important first. Bandwidths count in whole GB/s.
struct Score {
  int gpu = 0;
  int net_bandwidth = 0, pci_left = 0, net_hops = 0;  ///< 0 if the NIC does not matter
  int bandwidth = 0, hops = 0;
  int distance = 0;  ///< difference of the GPU indices

  [[nodiscard]] bool is_before(const Score& other) const {
    if (net_bandwidth != other.net_bandwidth) return net_bandwidth > other.net_bandwidth;
    if (pci_left != other.pci_left) return pci_left > other.pci_left;
    if (net_hops != other.net_hops) return net_hops < other.net_hops;
    if (bandwidth != other.bandwidth) return bandwidth > other.bandwidth;
    if (hops != other.hops) return hops < other.hops;
    return distance < other.distance;
  }
};

bool are_equally_near(std::span<const Score> scores) {
  return std::all_of(scores.begin(), scores.end(), [&](const Score& score) {
    return score.bandwidth == scores.front().bandwidth && score.hops == scores.front().hops;
  });
}

}  // namespace

Walk::GpuList Walk::next_gpus(int gpu, int position, int back_to_net) const {
  const bool has_switch = system_.count(NodeKind::Nvs) > 0;
  if (!has_switch || rules().switch_next == SwitchNext::Any) {
    return all_next_gpus(gpu, position, back_to_net);
  }
  GpuList next = neighbours_over_switch(gpu);
  if (rules().switch_next == SwitchNext::Only) return next;
  const GpuList all = all_next_gpus(gpu, position, back_to_net);
  for (int i = 0; i < all.count; ++i) {
    const int other = all.gpus[static_cast<std::size_t>(i)];
    const auto end = next.gpus.begin() + next.count;
    if (std::find(next.gpus.begin(), end, other) == end) {
      next.gpus[static_cast<std::size_t>(next.count++)] = other;
    }
  }
  return next;
}

Walk::GpuList Walk::all_next_gpus(int gpu, int position, int back_to_net) const {
  std::array<Score, kMaxGpusPerHost> all;
  std::size_t count = 0;
  for (int distance = 1; distance < ngpus(); ++distance) {
    const int next = (gpu + distance) % ngpus();
    const Path& path = system_.path({NodeKind::Gpu, gpu}, {NodeKind::Gpu, next});
    if (path.hops() == 0 || is_used(next)) continue;
    Score score{.gpu = next,
                .bandwidth = static_cast<int>(path.bandwidth),
                .hops = path.hops(),
                .distance = distance};
    if (back_to_net >= 0) {
      const Path& from_net =
          system_.path({NodeKind::Net, attempt_->net_in(channel())}, {NodeKind::Gpu, next});
      score.net_bandwidth = static_cast<int>(from_net.bandwidth);
      score.net_hops = from_net.hops();
      score.pci_left =
          static_cast<int>(budget_.pci_left(system_.gpus[static_cast<std::size_t>(next)].device));
    }
    all[count++] = score;
  }
  const std::span<Score> scores{all.data(), count};
  std::sort(scores.begin(), scores.end(),
            [](const Score& a, const Score& b) { return a.is_before(b); });
  // As long as the path must later return to the NIC, equal candidates are tried farthest first.
  const bool is_later = back_to_net >= 0 && back_to_net != position + 1;
  if (is_later && are_equally_near(scores)) std::reverse(scores.begin(), scores.end());

  GpuList next;
  for (const Score& score : scores) next.gpus[static_cast<std::size_t>(next.count++)] = score.gpu;
  return next;
}

/// A switch serves a small number of peers best, so the walk goes to the neighbours by index.
Walk::GpuList Walk::neighbours_over_switch(int gpu) const {
  const int after = (gpu + 1) % ngpus();
  const int before = (gpu + ngpus() - 1) % ngpus();
  GpuList next;
  const auto add = [&](int candidate) {
    if (candidate == gpu || is_used(candidate)) return;
    if (system_.path({NodeKind::Gpu, gpu}, {NodeKind::Gpu, candidate}).hops() == 0) return;
    next.gpus[static_cast<std::size_t>(next.count++)] = candidate;
  };
  switch (attempt_->pattern) {
    case Pattern::Ring:
      add(before);
      if (after != before) add(after);
      break;
    case Pattern::SplitTree:
    case Pattern::BalancedTree:
      add(after);
      if (after != before) add(before);
      break;
    default:
      add(after);
  }
  return next;
}

}  // namespace ringside
