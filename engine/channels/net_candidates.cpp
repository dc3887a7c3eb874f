#include "engine/channels/net_candidates.h"

#include <algorithm>
#include <limits>

namespace ringside {
namespace {

constexpr int kPathTypes = static_cast<int>(PathType::Dis) + 1;

void append_new(std::vector<int>& list, int net) {
  if (std::find(list.begin(), list.end(), net) == list.end()) list.push_back(net);
}

/// Lists the NICs that a GPU picks for channels 0, 1, ..., up to the first repetition.
std::vector<int> list_picks(const System& system, int gpu, const TopologyParameters& parameters) {
  std::vector<int> picks;
  for (int channel = 0; channel < parameters.rules.max_channels; ++channel) {
    const int net = local_net(system, gpu, channel, parameters);
    if (net < 0 || (!picks.empty() && net == picks.front())) break;
    picks.push_back(net);
  }
  return picks;
}

}  // namespace

NetCandidates::NetCandidates(const System& system, const TopologyParameters& topology,
                             const ChannelParameters& channels)
    : system_(system),
      most_(topology.netdevs_policy > 0 ? topology.netdevs_policy
                                        : std::numeric_limits<int>::max()),
      is_interleaved_(system.nhosts > 1 && channels.mnnvl_scatter_nets &&
                      channels.rules.search.interleaves_nics) {
  for (int gpu = 0; gpu < system.count(NodeKind::Gpu); ++gpu) {
    preferred_.push_back(list_picks(system, gpu, topology));
  }
  for (int net = 0; net < system.count(NodeKind::Net); ++net) {
    gpus_.push_back(local_nodes(system, {NodeKind::Net, net}, NodeKind::Gpu));
  }
  known_.resize((preferred_.size() + 1) * kPathTypes);
}

int NetCandidates::first_of(int gpu) const {
  const std::vector<int>& picks = preferred_[static_cast<std::size_t>(gpu)];
  return picks.empty() ? -1 : picks.front();
}

const std::vector<int>& NetCandidates::of(int gpu, PathType worst) {
  auto& known = known_[static_cast<std::size_t>((gpu + 1) * kPathTypes + static_cast<int>(worst))];
  if (!known) known = select(gpu, worst);
  return *known;
}

std::vector<int> NetCandidates::select(int gpu, PathType worst) const {
  std::vector<int> gpus;
  for (int one = 0; one < system_.count(NodeKind::Gpu); ++one) {
    if (gpu < 0 || gpu == one) gpus.push_back(one);
  }

  std::vector<int> nets;
  if (is_interleaved_) {
    std::size_t most = 0;
    for (const std::vector<int>& picks : preferred_) most = std::max(most, picks.size());
    for (std::size_t choice = 0; choice < most; ++choice) {
      for (const int one : gpus) {
        const std::vector<int>& picks = preferred_[static_cast<std::size_t>(one)];
        if (choice < picks.size()) append_new(nets, picks[choice]);
      }
    }
  } else {
    for (const int one : gpus) {
      for (const int net : preferred_[static_cast<std::size_t>(one)]) append_new(nets, net);
    }
  }

  for (int type = 0; type <= static_cast<int>(worst); ++type) {
    for (const int one : gpus) {
      for (int net = 0; net < system_.count(NodeKind::Net); ++net) {
        if (static_cast<int>(nets.size()) >= most_) return nets;
        const Path& path = system_.path({NodeKind::Gpu, one}, {NodeKind::Net, net});
        if (static_cast<int>(path.type) == type) append_new(nets, net);
      }
    }
  }
  return nets;
}

}  // namespace ringside
