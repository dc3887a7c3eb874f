#include "engine/channels/channel_counts.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/vocabulary.h"

namespace ringside {
namespace {

constexpr int kStepsOfBuffer = 8;  // NCCL_STEPS
constexpr int kPeersAtOnce = 8;    // operations of one channel that a block runs concurrently

constexpr int kKiB = 1024;

int pow2_up(int number) {
  return static_cast<int>(std::bit_ceil(static_cast<unsigned>(std::max(number, 1))));
}

/// If the minimum exceeds the maximum, NCCL lowers the minimum.
int most_ctas(const ChannelParameters& parameters) {
  return parameters.max_ctas.value_or(parameters.rules.counts.max_channels);
}
int least_ctas(const ChannelParameters& parameters) {
  return std::min(parameters.min_ctas.value_or(1), most_ctas(parameters));
}

/// Grows the list to `count` channels by repeating the existing channels in order.
void grow(std::vector<int>& channels, std::size_t count) {
  const std::size_t old = channels.size();
  while (channels.size() < count) channels.push_back(channels[channels.size() - old]);
}

/// Returns the number of NVLS channels if no setting gives one.
int default_nvls_channels(const CommShape& shape, NvlsChannels rule) {
  constexpr int kHopper = 16;
  if (shape.min_cc < 100 || rule == NvlsChannels::Fixed) return kHopper;
  if (rule == NvlsChannels::ByCapability) return 32;
  return rule == NvlsChannels::ByNodes && shape.nnodes > 1 ? 32 : 24;
}

bool is_in_table(const CommShape& shape, NvlsChannels rule) {
  return rule == NvlsChannels::ByNics && shape.min_cc >= 100 && shape.nnodes > 1;
}

/// Returns whether the channels are doubled a second time: nodes with fast links need more channels than the
/// search finds.
/// source  NCCL 2.30.7 graph/connect.cc: ncclTopoPostset
bool is_doubled(const CommShape& shape, std::size_t count, const CountRules& rules) {
  constexpr float kFastLinks = 45;  // GB/s within a node
  constexpr std::size_t kEnough = 16;
  if (shape.nnodes == 1 || shape.graph(GraphId::Ring).bw_intra <= kFastLinks) return false;
  const bool is_hopper = shape.min_cc == 90;
  switch (rules.hopper_doubling) {
    case HopperDoubling::WhereTheyFit:
      return is_hopper && 2 * count <= static_cast<std::size_t>(rules.max_channels);
    case HopperDoubling::Below16:
      return is_hopper && count < kEnough;
    case HopperDoubling::FromHopper:
      return shape.min_cc >= 90 && count < kEnough;
  }
  return false;
}

/// Returns the NVLS sizes of Blackwell and later GPUs across nodes, by node size, number of NICs and path to
/// them, GB/s. If tree_chunk is 0, the general rule applies.
/// source  as nvls_sizes()
NvlsSizes tabled_nvls_sizes(const CommShape& shape) {
  const int ppn = shape.min_local_ranks;
  const float nic = shape.min_net_bw;
  const bool is_pci_local = shape.graph(GraphId::Nvls).type_inter <= PathType::Pxb;
  if (shape.nnodes == 2 && nic >= 48) {
    if (ppn <= 4) return {32, 256 * kKiB, 256 * kKiB};
    if (ppn >= 16 || (ppn <= 8 && is_pci_local && nic < 96)) return {32, 128 * kKiB, 64 * kKiB};
    return {32, 128 * kKiB, 128 * kKiB};
  }
  if (nic >= 96) {
    if (ppn <= 8) return {24, 256 * kKiB, 256 * kKiB};
    return {32, 128 * kKiB, (ppn < 32 ? 128 : 64) * kKiB};
  }
  if (nic >= 48) return {24, 128 * kKiB, (is_pci_local ? 64 : 128) * kKiB};
  return {32, 128 * kKiB, 0};
}

int default_p2p_chunk(const CommShape& shape, const ChannelParameters& parameters) {
  if (shape.nnodes > 1) {
    const bool is_grace = parameters.rules.counts.grace_steps_are_long &&
                          shape.cpu_arch == CpuArch::Arm && shape.min_cc >= 100;
    return parameters.p2p_net_chunk.value_or((is_grace ? 256 : 128) * kKiB);
  }
  if (shape.is_all_nvlink) return parameters.p2p_nvl_chunk.value_or(512 * kKiB);
  return parameters.p2p_pci_chunk.value_or(128 * kKiB);
}

/// Returns the number of channels per peer that the ranks of a node request without regard to rates: the
/// minimum over their peers.
/// source  NCCL 2.18 .. 2.28 graph/paths.cc: ncclTopoComputeP2pChannels
int asked_per_peer(const CommShape& shape, const ChannelParameters& parameters, int nchannels) {
  int fewest = std::min(nchannels, shape.p2p_channels_per_peer);
  if (shape.nnodes == 1) return fewest;
  constexpr int kPerNet = 2;
  if (parameters.channels_per_net_peer) return std::min(fewest, *parameters.channels_per_net_peer);
  int across = kPerNet;
  if (parameters.rules.counts.net_peer_channels == NetPeerChannels::ByNics) {
    while (across > 1 && across * shape.nranks > 4 * nchannels) across /= 2;
    across = std::max(across, shape.min_net_count);
  }
  return std::min(fewest, across);
}

/// Across nodes, a block serves 8 peers concurrently. Returns the number of channels per peer with which all
/// peers are served.
int fitting_per_peer(const CommShape& shape, const ChannelParameters& parameters, int per_peer,
                     int nchannels) {
  const CountRules& rules = parameters.rules.counts;
  if (rules.net_peer_channels != NetPeerChannels::ByRate) {
    return rules.per_peer_is_bounded ? std::min(per_peer, nchannels) : per_peer;
  }
  if (shape.nnodes == 1) return std::min(per_peer, nchannels);
  if (parameters.channels_per_net_peer) return per_peer;
  const int peers = parameters.p2p_max_peers.value_or(shape.nranks);
  const int rounds = (peers + kPeersAtOnce - 1) / kPeersAtOnce;
  while (per_peer > 1 && per_peer * rounds > nchannels) per_peer /= 2;
  return per_peer;
}

}  // namespace

std::vector<int> repeated_channels(const CommShape& shape, const ChannelParameters& parameters) {
  const auto searched = static_cast<std::size_t>(shape.graph(GraphId::Ring).nchannels);
  const auto limit = static_cast<std::size_t>(parameters.rules.counts.max_channels);
  std::vector<int> channels(std::min(2 * searched, limit));
  std::iota(channels.begin(), channels.end(), 0);

  const GraphSummary& chain = shape.graph(GraphId::CollNetChain);
  if (shape.has_collnet && chain.bw_intra > chain.bw_inter && shape.nranks > shape.nnodes) {
    grow(channels, std::min(channels.size() * 3 / 2, limit));
  }
  if (is_doubled(shape, channels.size(), parameters.rules.counts)) {
    grow(channels, 2 * channels.size());
  }
  // The maximum is applied first: if both limits are set, the first channels are repeated.
  const int most = std::min(parameters.max_channels.value_or(parameters.rules.counts.max_channels),
                            most_ctas(parameters));
  const int least = std::max(parameters.min_channels.value_or(0), least_ctas(parameters));
  channels.resize(std::min(channels.size(), static_cast<std::size_t>(most)));
  grow(channels, static_cast<std::size_t>(least));
  return channels;
}

void raise_to_nvls(std::vector<int>& repeated, int nvls_channels) {
  grow(repeated, static_cast<std::size_t>(nvls_channels));
}

NvlsSizes nvls_sizes(const CommShape& shape, const ChannelParameters& parameters) {
  if (!shape.has_nvls) return {};
  const NvlsChannels rule = parameters.rules.counts.nvls_channels;
  NvlsSizes sizes{default_nvls_channels(shape, rule), 128 * kKiB, 0};
  if (is_in_table(shape, rule)) sizes = tabled_nvls_sizes(shape);

  const int wanted = parameters.nvls_channels.value_or(sizes.nchannels);
  sizes.nchannels = std::max(least_ctas(parameters), std::min(most_ctas(parameters), wanted));
  sizes.chunk = parameters.nvls_chunk.value_or(sizes.chunk);
  if (sizes.tree_chunk == 0) sizes.tree_chunk = shape.nnodes >= 4 ? 64 * kKiB : sizes.chunk;
  sizes.tree_chunk = parameters.nvls_tree_chunk.value_or(sizes.tree_chunk);
  return sizes;
}

std::array<int, 3> buffer_sizes(const CommShape& shape, const ChannelParameters& parameters) {
  std::array<int, 3> sizes = CommShape{}.buffers;
  if (shape.own_cpu_arch == CpuArch::Arm) {
    sizes[static_cast<std::size_t>(Protocol::Simple)] = parameters.rules.counts.arm_simple_buffer;
  }
  const auto set = [&sizes](Protocol protocol, const std::optional<int>& size) {
    int& held = sizes[static_cast<std::size_t>(protocol)];
    held = size.value_or(held);
  };
  set(Protocol::LL, parameters.ll_buffer);
  set(Protocol::LL128, parameters.ll128_buffer);
  set(Protocol::Simple, parameters.buffer);
  return sizes;
}

P2pSizes p2p_sizes(const CommShape& shape, const ChannelParameters& parameters) {
  const CountRules& rules = parameters.rules.counts;
  const int wanted =
      std::max(std::min(shape.nchannels, parameters.max_p2p_channels), parameters.min_p2p_channels);
  P2pSizes sizes;
  sizes.nchannels = std::min(pow2_up(wanted), rules.max_channels);
  const int asked = rules.net_peer_channels == NetPeerChannels::ByRate
                        ? std::min(shape.p2p_channels_per_peer, rules.max_channels)
                        : asked_per_peer(shape, parameters, wanted);
  sizes.per_peer = fitting_per_peer(shape, parameters, pow2_up(asked), sizes.nchannels);
  sizes.chunk = default_p2p_chunk(shape, parameters);
  if (rules.p2p_steps_fit_buffer) {
    sizes.chunk = std::min(
        sizes.chunk, shape.buffers[static_cast<std::size_t>(Protocol::Simple)] / kStepsOfBuffer);
  }
  return sizes;
}

}  // namespace ringside
