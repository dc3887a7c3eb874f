#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/env.h"
#include "base/result.h"
#include "engine/channels/rules.h"

namespace ringside {

/// The environment variables that affect channels.
/// source  NCCL 2.30.7: graph/search.cc, graph/connect.cc, init.cc, transport/nvls.cc, graph/paths.cc
struct ChannelParameters {
  /// NCCL_GRAPH_FILE: file with graphs that are used instead of a search; empty: none
  std::string graph_file;
  int cross_nic = 2;                 ///< NCCL_CROSS_NIC: 0 never, 1 always, 2 if it is faster
  std::optional<int> min_channels;   ///< NCCL_MIN_NCHANNELS, NCCL_MIN_NRINGS
  std::optional<int> max_channels;   ///< NCCL_MAX_NCHANNELS, NCCL_MAX_NRINGS
  std::optional<int> min_ctas;       ///< NCCL_MIN_CTAS
  std::optional<int> max_ctas;       ///< NCCL_MAX_CTAS
  int nvls_enable = 2;               ///< NCCL_NVLS_ENABLE: 0 off, 1 on, 2 if multicast is available
  std::optional<int> nvls_channels;  ///< NCCL_NVLS_NCHANNELS
  std::optional<int> nvls_chunk;     ///< NCCL_NVLS_CHUNKSIZE, bytes
  std::optional<int> nvls_tree_chunk;        ///< NCCL_NVLSTREE_MAX_CHUNKSIZE, bytes
  bool collnet_enable = false;               ///< NCCL_COLLNET_ENABLE
  int collnet_node_threshold = 2;            ///< NCCL_COLLNET_NODE_THRESHOLD
  bool unpack_double = true;                 ///< NCCL_UNPACK_DOUBLE_NCHANNELS
  bool mnnvl_scatter_nets = true;            ///< NCCL_MNNVL_SCATTER_NETS_ENABLE
  bool mnnvl_rail_per_host = false;          ///< NCCL_MNNVL_RAIL_PER_HOST
  bool ignore_net_mismatch = true;           ///< NCCL_IGNORE_NET_MISMATCH
  int min_p2p_channels = 1;                  ///< NCCL_MIN_P2P_NCHANNELS
  int max_p2p_channels = 64;                 ///< NCCL_MAX_P2P_NCHANNELS
  std::optional<int> channels_per_net_peer;  ///< NCCL_NCHANNELS_PER_NET_PEER
  int p2p_channel_net_bw = 14;               ///< NCCL_P2P_PER_CHANNEL_NET_BW, GB/s
  std::optional<int> p2p_max_peers;          ///< NCCL_P2P_MAX_PEERS
  std::optional<int> p2p_net_chunk, p2p_nvl_chunk, p2p_pci_chunk;  ///< NCCL_P2P_*_CHUNKSIZE, bytes
  std::optional<int> buffer, ll_buffer,
      ll128_buffer;         ///< NCCL_BUFFSIZE, NCCL_LL(128)_BUFFSIZE, bytes
  ChannelRules rules = {};  ///< rules of the release, not set by a variable
};

/// version  the simulated release, as for load_release()
/// errors   as load_release(). InvalidArgument: a value that NCCL rejects or would ignore; the error shows the
///          variable's grammar
Result<ChannelParameters> parse_channel_parameters(const Environment& environment,
                                                   std::string_view version = kBaseRelease);

/// Returns the variables that parse_channel_parameters() reads.
std::span<const std::string_view> channel_variables();

}  // namespace ringside
