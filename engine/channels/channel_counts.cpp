#include "engine/channels/channel_counts.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/vocabulary.h"

namespace ringside {
namespace {

constexpr int kMostChannels = 64;  // NCCL's MAXCHANNELS, and what its kernel arguments hold
constexpr int kStepsOfBuffer = 8;  // NCCL_STEPS
constexpr int kPeersAtOnce = 8;    // operations of one channel that a block runs concurrently

constexpr int kKiB = 1024;

int pow2_up(int number) {
  return static_cast<int>(std::bit_ceil(static_cast<unsigned>(std::max(number, 1))));
}

/// NCCL lowers the least to the most where they contradict each other.
int most_ctas(const ChannelParameters& parameters) {
  return parameters.max_ctas.value_or(kMostChannels);
}
int least_ctas(const ChannelParameters& parameters) {
  return std::min(parameters.min_ctas.value_or(1), most_ctas(parameters));
}

/// New channels repeat the old ones from the first on.
void grow(std::vector<int>& channels, std::size_t count) {
  const std::size_t old = channels.size();
  while (channels.size() < count) channels.push_back(channels[channels.size() - old]);
}

bool is_in_table(const CommShape& shape) { return shape.min_cc >= 100 && shape.nnodes > 1; }

/// Blackwell and later across nodes: by size of the nodes, NICs and the way to them.
/// A tree_chunk of 0 leaves the general rule.
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
    const bool is_grace = shape.cpu_arch == CpuArch::Arm && shape.min_cc >= 100;
    return parameters.p2p_net_chunk.value_or((is_grace ? 256 : 128) * kKiB);
  }
  if (shape.is_all_nvlink) return parameters.p2p_nvl_chunk.value_or(512 * kKiB);
  return parameters.p2p_pci_chunk.value_or(128 * kKiB);
}

/// Across nodes a block serves 8 peers at once: so many channels a peer that all are served.
int fitting_per_peer(const CommShape& shape, const ChannelParameters& parameters, int per_peer,
                     int nchannels) {
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
  std::vector<int> channels(std::min<std::size_t>(2 * searched, kMostChannels));
  std::iota(channels.begin(), channels.end(), 0);

  const GraphSummary& chain = shape.graph(GraphId::CollNetChain);
  if (shape.has_collnet && chain.bw_intra > chain.bw_inter && shape.nranks > shape.nnodes) {
    grow(channels, std::min<std::size_t>(channels.size() * 3 / 2, kMostChannels));
  }
  // Fast links need four channels for each searched one where a node has few ranks.
  if (shape.min_cc >= 90 && shape.nnodes > 1 && shape.graph(GraphId::Ring).bw_intra > 45 &&
      channels.size() < 16) {
    grow(channels, 2 * channels.size());
  }
  // The most first: with both limits, the first channels are repeated.
  const int most = std::min(parameters.max_channels.value_or(kMostChannels), most_ctas(parameters));
  const int least = std::max(parameters.min_channels.value_or(0), least_ctas(parameters));
  channels.resize(std::min(channels.size(), static_cast<std::size_t>(most)));
  grow(channels, static_cast<std::size_t>(least));
  return channels;
}

NvlsSizes nvls_sizes(const CommShape& shape, const ChannelParameters& parameters) {
  if (!shape.has_nvls) return {};
  NvlsSizes sizes{shape.min_cc >= 100 ? 24 : 16, 128 * kKiB, 0};
  if (is_in_table(shape)) sizes = tabled_nvls_sizes(shape);

  const int wanted = parameters.nvls_channels.value_or(sizes.nchannels);
  sizes.nchannels = std::max(least_ctas(parameters), std::min(most_ctas(parameters), wanted));
  sizes.chunk = parameters.nvls_chunk.value_or(sizes.chunk);
  if (sizes.tree_chunk == 0) sizes.tree_chunk = shape.nnodes >= 4 ? 64 * kKiB : sizes.chunk;
  sizes.tree_chunk = parameters.nvls_tree_chunk.value_or(sizes.tree_chunk);
  return sizes;
}

std::array<int, 3> buffer_sizes(const ChannelParameters& parameters) {
  std::array<int, 3> sizes = CommShape{}.buffers;
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
  const int wanted =
      std::max(std::min(shape.nchannels, parameters.max_p2p_channels), parameters.min_p2p_channels);
  P2pSizes sizes;
  sizes.nchannels = std::min(pow2_up(wanted), kMostChannels);
  const int asked = pow2_up(std::min(shape.p2p_channels_per_peer, kMostChannels));
  sizes.per_peer = fitting_per_peer(shape, parameters, asked, sizes.nchannels);
  sizes.chunk =
      std::min(default_p2p_chunk(shape, parameters),
               shape.buffers[static_cast<std::size_t>(Protocol::Simple)] / kStepsOfBuffer);
  return sizes;
}

}  // namespace ringside
