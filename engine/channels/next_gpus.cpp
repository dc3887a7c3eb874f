#include <algorithm>
#include <array>
#include <vector>

#include "engine/channels/walk.h"

namespace ringside {
namespace {

/// What speaks for a GPU as the next one, by priority. Bandwidths count in whole GB/s.
struct Score {
  int gpu = 0;
  int net_bandwidth = 0, pci_left = 0, net_hops = 0;  ///< kept 0 where the NIC does not matter
  int bandwidth = 0, hops = 0;
  int distance = 0;  ///< in index

  [[nodiscard]] bool is_before(const Score& other) const {
    const auto key = [](const Score& s) {
      return std::array{-s.net_bandwidth, -s.pci_left, s.net_hops,
                        -s.bandwidth,     s.hops,      s.distance};
    };
    return key(*this) < key(other);
  }
};

bool are_equally_near(const std::vector<Score>& scores) {
  return std::all_of(scores.begin(), scores.end(), [&](const Score& score) {
    return score.bandwidth == scores.front().bandwidth && score.hops == scores.front().hops;
  });
}

}  // namespace

std::vector<int> Walk::next_gpus(int gpu, int position, int back_to_net) const {
  if (system_.count(NodeKind::Nvs) > 0) return neighbours_over_switch(gpu);

  std::vector<Score> scores;
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
    scores.push_back(score);
  }
  std::sort(scores.begin(), scores.end(),
            [](const Score& a, const Score& b) { return a.is_before(b); });
  // While the way back to the NIC lies further on, equals are tried farthest first.
  const bool is_later = back_to_net >= 0 && back_to_net != position + 1;
  if (is_later && are_equally_near(scores)) std::reverse(scores.begin(), scores.end());

  std::vector<int> next;
  next.reserve(scores.size());
  for (const Score& score : scores) next.push_back(score.gpu);
  return next;
}

/// A switch serves few peers best, so only the neighbours by index are tried.
std::vector<int> Walk::neighbours_over_switch(int gpu) const {
  const int after = (gpu + 1) % ngpus();
  const int before = (gpu + ngpus() - 1) % ngpus();
  std::vector<int> order;
  switch (attempt_->pattern) {
    case Pattern::Ring:
      order = {before, after};
      break;
    case Pattern::SplitTree:
    case Pattern::BalancedTree:
      order = {after, before};
      break;
    default:
      order = {after};
  }
  if (order.size() == 2 && after == before) order.pop_back();
  std::erase_if(order, [&](int next) {
    return next == gpu || is_used(next) ||
           system_.path({NodeKind::Gpu, gpu}, {NodeKind::Gpu, next}).hops() == 0;
  });
  return order;
}

}  // namespace ringside
