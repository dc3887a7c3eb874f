#include "engine/channels/parameters.h"

#include <array>

namespace ringside {
namespace {

constexpr int kMostChannels = 64;  // NCCL's MAXCHANNELS
constexpr int kMostRanks = 65536;
constexpr int kMostBytes = 1 << 30;
constexpr int kLeastChunk = 512;    // smallest unit of the simple protocol
constexpr int kLeastBuffer = 4096;  // 8 steps of that unit
constexpr int kLeastLl128 = 16384;  // 8 steps of one warp's 16 lines of 128 bytes

constexpr std::array<std::string_view, 29> kVariables{"NCCL_BUFFSIZE",
                                                      "NCCL_COLLNET_ENABLE",
                                                      "NCCL_COLLNET_NODE_THRESHOLD",
                                                      "NCCL_CROSS_NIC",
                                                      "NCCL_GRAPH_FILE",
                                                      "NCCL_IGNORE_NET_MISMATCH",
                                                      "NCCL_LL128_BUFFSIZE",
                                                      "NCCL_LL_BUFFSIZE",
                                                      "NCCL_MAX_CTAS",
                                                      "NCCL_MAX_NCHANNELS",
                                                      "NCCL_MAX_NRINGS",
                                                      "NCCL_MAX_P2P_NCHANNELS",
                                                      "NCCL_MIN_CTAS",
                                                      "NCCL_MIN_NCHANNELS",
                                                      "NCCL_MIN_NRINGS",
                                                      "NCCL_MIN_P2P_NCHANNELS",
                                                      "NCCL_MNNVL_RAIL_PER_HOST",
                                                      "NCCL_MNNVL_SCATTER_NETS_ENABLE",
                                                      "NCCL_NCHANNELS_PER_NET_PEER",
                                                      "NCCL_NVLSTREE_MAX_CHUNKSIZE",
                                                      "NCCL_NVLS_CHUNKSIZE",
                                                      "NCCL_NVLS_ENABLE",
                                                      "NCCL_NVLS_NCHANNELS",
                                                      "NCCL_P2P_MAX_PEERS",
                                                      "NCCL_P2P_NET_CHUNKSIZE",
                                                      "NCCL_P2P_NVL_CHUNKSIZE",
                                                      "NCCL_P2P_PCI_CHUNKSIZE",
                                                      "NCCL_P2P_PER_CHANNEL_NET_BW",
                                                      "NCCL_UNPACK_DOUBLE_NCHANNELS"};

/// Reads variables and keeps the first Error.
class VariableReader {
 public:
  explicit VariableReader(const Environment& environment) : environment_(environment) {}

  void read(const char* name, int least, int most, std::optional<int>& value) {
    if (!status_) return;
    const auto given = env_int(environment_, name, least, most);
    if (!given) {
      status_ = given.error();
    } else if (given->has_value()) {
      value = static_cast<int>(**given);
    }
  }

  void read(const char* name, int least, int most, int& value) {
    std::optional<int> given;
    read(name, least, most, given);
    value = given.value_or(value);
  }

  void read(const char* name, bool& value) {
    std::optional<int> given;
    read(name, 0, 1, given);
    if (given) value = *given == 1;
  }

  [[nodiscard]] const Status& status() const { return status_; }

 private:
  const Environment& environment_;
  Status status_;
};

/// Reads the old names first, so that the new names override them.
void read_channel_limits(VariableReader& reader, ChannelParameters& parameters) {
  reader.read("NCCL_MIN_NRINGS", 0, kMostChannels, parameters.min_channels);
  reader.read("NCCL_MIN_NCHANNELS", 0, kMostChannels, parameters.min_channels);
  reader.read("NCCL_MAX_NRINGS", 1, kMostChannels, parameters.max_channels);
  reader.read("NCCL_MAX_NCHANNELS", 1, kMostChannels, parameters.max_channels);
  reader.read("NCCL_MIN_CTAS", 1, kMostChannels, parameters.min_ctas);
  reader.read("NCCL_MAX_CTAS", 1, kMostChannels, parameters.max_ctas);
}

void read_structures(VariableReader& reader, ChannelParameters& parameters) {
  reader.read("NCCL_CROSS_NIC", 0, 2, parameters.cross_nic);
  reader.read("NCCL_NVLS_ENABLE", 0, 2, parameters.nvls_enable);
  reader.read("NCCL_NVLS_NCHANNELS", 1, kMostChannels, parameters.nvls_channels);
  reader.read("NCCL_NVLS_CHUNKSIZE", kLeastChunk, kMostBytes, parameters.nvls_chunk);
  reader.read("NCCL_NVLSTREE_MAX_CHUNKSIZE", kLeastChunk, kMostBytes, parameters.nvls_tree_chunk);
  reader.read("NCCL_COLLNET_ENABLE", parameters.collnet_enable);
  reader.read("NCCL_COLLNET_NODE_THRESHOLD", 0, kMostRanks, parameters.collnet_node_threshold);
  reader.read("NCCL_UNPACK_DOUBLE_NCHANNELS", parameters.unpack_double);
  reader.read("NCCL_MNNVL_SCATTER_NETS_ENABLE", parameters.mnnvl_scatter_nets);
  reader.read("NCCL_MNNVL_RAIL_PER_HOST", parameters.mnnvl_rail_per_host);
  reader.read("NCCL_IGNORE_NET_MISMATCH", parameters.ignore_net_mismatch);
}

void read_p2p(VariableReader& reader, ChannelParameters& parameters) {
  reader.read("NCCL_MIN_P2P_NCHANNELS", 1, kMostChannels, parameters.min_p2p_channels);
  reader.read("NCCL_MAX_P2P_NCHANNELS", 1, kMostChannels, parameters.max_p2p_channels);
  reader.read("NCCL_NCHANNELS_PER_NET_PEER", 1, kMostChannels, parameters.channels_per_net_peer);
  reader.read("NCCL_P2P_PER_CHANNEL_NET_BW", 1, 1'000'000, parameters.p2p_channel_net_bw);
  reader.read("NCCL_P2P_MAX_PEERS", 1, kMostRanks, parameters.p2p_max_peers);
  reader.read("NCCL_P2P_NET_CHUNKSIZE", kLeastChunk, kMostBytes, parameters.p2p_net_chunk);
  reader.read("NCCL_P2P_NVL_CHUNKSIZE", kLeastChunk, kMostBytes, parameters.p2p_nvl_chunk);
  reader.read("NCCL_P2P_PCI_CHUNKSIZE", kLeastChunk, kMostBytes, parameters.p2p_pci_chunk);
}

void read_buffers(VariableReader& reader, ChannelParameters& parameters) {
  reader.read("NCCL_BUFFSIZE", kLeastBuffer, kMostBytes, parameters.buffer);
  reader.read("NCCL_LL_BUFFSIZE", kLeastBuffer, kMostBytes, parameters.ll_buffer);
  reader.read("NCCL_LL128_BUFFSIZE", kLeastLl128, kMostBytes, parameters.ll128_buffer);
}

}  // namespace

Result<ChannelParameters> parse_channel_parameters(const Environment& environment,
                                                   std::string_view version) {
  ChannelParameters parameters;
  RINGSIDE_TRY(parameters.rules, load_channel_rules(version));
  parameters.graph_file = environment("NCCL_GRAPH_FILE").value_or("");
  VariableReader reader{environment};
  read_channel_limits(reader, parameters);
  read_structures(reader, parameters);
  read_p2p(reader, parameters);
  read_buffers(reader, parameters);
  RINGSIDE_TRY(reader.status());
  return parameters;
}

std::span<const std::string_view> channel_variables() { return kVariables; }

}  // namespace ringside
